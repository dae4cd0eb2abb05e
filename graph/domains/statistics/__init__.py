"""Counts by magnitude and time, and what seismology makes of them."""
