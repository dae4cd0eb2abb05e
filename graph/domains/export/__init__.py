"""Exports of whole lists of events: pages of the catalogue → an encoder → an HTTP body or a file."""
