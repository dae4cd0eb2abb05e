"""Where versions of events come from: the payloads that were ingested, and the catalogue rebuilt from kept ones."""
