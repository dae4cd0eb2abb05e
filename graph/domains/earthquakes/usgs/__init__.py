"""The feeds and the event service of USGS: requests, answers, GeoJSON, and the events read from its features."""
