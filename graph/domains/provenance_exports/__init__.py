"""Provenance as other programs read it: W3C PROV-JSON, OpenLineage events and STAC items. No I/O."""
