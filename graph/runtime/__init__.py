"""Running the service: leases, by which one of many processes does a job or goes on with work without end."""
