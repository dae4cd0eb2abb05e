"""Tables and items that mean nothing, for tests of the store."""

from typing import Any

from graph.store.contract import Item
from graph.store.design import Attribute, Index, TableDesign

BY_TIME = Index(
    "ByTime",
    partition_key=Attribute("day", "S"),
    sort_key=Attribute("at", "N"),
    narrowed_by=(Attribute("mag", "N"), Attribute("kind", "S")),
    ranked_by=Attribute("mag", "N"),
)
BY_NAME = Index("ByName", partition_key=Attribute("team", "S"), sort_key=Attribute("name", "S"))

SAMPLES = TableDesign(
    name="samples",
    partition_key=Attribute("pk", "S"),
    sort_key=Attribute("sk", "S"),
    indexes=(BY_TIME, BY_NAME),
    ttl="ttl",
)

READINGS = TableDesign("readings", partition_key=Attribute("station", "N"), sort_key=Attribute("number", "N"))
"""Numbers for keys, no index, no expiry."""

NOON = 1_700_000_000_000  # epoch milliseconds, where the tests' clock stands
NOON_SECONDS = NOON // 1000


def sample(pk: str = "p", sk: str = "s", /, **attributes: Any) -> Item:
    """An item with a primary key and whatever else is given."""
    return {"pk": pk, "sk": sk, **attributes}


def timed(sk: str, at: float, day: str = "mon", **attributes: Any) -> Item:
    """An item of the index `ByTime`."""
    return sample("p", sk, day=day, at=at, **attributes)


def sks(items: list[Item]) -> list[str]:
    """The sort keys, in order, which tell the items of one partition apart."""
    return [item["sk"] for item in items]


class HeldClock:
    """A clock that a test holds still and moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now
