"""Tests of payloads: what is kept of them, what leads to them, and the catalogue rebuilt from them."""
