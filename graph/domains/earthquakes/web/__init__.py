"""The web pages of the catalogue: which there are, and the events that they show."""
