"""The catalogue of earthquakes: events of USGS, in time order, with summaries, statistics and ingest."""
