"""What runs a service: leases, which of many processes does a job."""
