"""The feeds and the event service of USGS: requests, answers, GeoJSON, and events made of its features."""
