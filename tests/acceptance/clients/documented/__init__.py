"""The programs of docs/clients/, each as it is printed there, against a service with the real week."""
