"""Lighthouse on the web pages with the demo's week, on a desktop and on a telephone."""
