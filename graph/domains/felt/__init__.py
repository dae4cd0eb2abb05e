"""What people answer to "Did you feel it?", and the intensity that follows for a community."""
