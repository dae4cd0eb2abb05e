"""The documented table `earthquake-events`, in which the catalogue and the request logs stand.

It belongs to neither domain: its keys are general, and each domain declares its own entities for it.
"""

from graph.store.design import Index, KeyAttribute, TableDesign

TIME_ORDERED = Index(
    "TimeOrderedIndex",
    partition_key=KeyAttribute("gsi1pk", "S"),
    sort_key=KeyAttribute("gsi1sk", "N"),
    narrowed_by=("mag", "lat", "lon", "depth", "type"),
    ranked_by="mag",  # each magnitude has a tenth of the events that the next smaller one has
)

EARTHQUAKE_EVENTS = TableDesign(
    name="earthquake-events",
    partition_key=KeyAttribute("pk", "S"),
    sort_key=KeyAttribute("sk", "S"),
    indexes=(TIME_ORDERED,),
    ttl="ttl",  # epoch seconds; events and summaries never carry it
    resource="Table",  # as in version 0.1, whose template had no other
)
