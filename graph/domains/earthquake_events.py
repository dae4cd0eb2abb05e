"""The documented table `earthquake-events`, which holds the catalogue and the request logs.

It belongs to neither domain: its keys are general, and each domain declares its own entities in it.
"""

from graph.store.design import Index, KeyAttribute, TableDesign

TIME_ORDERED = Index(
    "TimeOrderedIndex",
    partition_key=KeyAttribute("gsi1pk", "S"),
    sort_key=KeyAttribute("gsi1sk", "N"),
    narrowed_by=(
        *("mag", "lat", "lon", "depth", "type", "net", "magType", "status", "alert", "tsunami", "felt", "sig", "gap"),
        *(
            "place",
            "source",
            "ingestedAt",
        ),  # with these, a page of the documented attributes is read in the index alone
    ),
    ranked_by="mag",  # magnitude M + 1 has a tenth of the events of magnitude M
)

EARTHQUAKE_EVENTS = TableDesign(
    name="earthquake-events",
    partition_key=KeyAttribute("pk", "S"),
    sort_key=KeyAttribute("sk", "S"),
    indexes=(TIME_ORDERED,),
    ttl="ttl",  # epoch seconds; events and summaries never carry it
    entity="entity",
    resource="Table",  # the template's name of it, which a deployed stack keeps
)
