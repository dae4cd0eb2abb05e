"""Tables, entities and items that mean nothing, for tests of the store."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graph.store.attributes import JsonDocument, Real, Text, Truth, Whole
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity, Item, Key
from graph.store.rows import Row

BY_TIME = Index(
    "ByTime",
    partition_key=KeyAttribute("day", "S"),
    sort_key=KeyAttribute("at", "N"),
    narrowed_by=("mag", "kind"),
    ranked_by="mag",
)
BY_NAME = Index("ByName", partition_key=KeyAttribute("team", "S"), sort_key=KeyAttribute("name", "S"))

SAMPLES = TableDesign(
    name="samples",
    partition_key=KeyAttribute("pk", "S"),
    sort_key=KeyAttribute("sk", "S"),
    indexes=(BY_TIME, BY_NAME),
    ttl="ttl",
    entity="entity",
)

SAMPLE = Entity(
    "SAMPLE",
    SAMPLES,
    key=("{pk}", "{sk}"),
    indexes={BY_TIME: ("{day}", "{at}"), BY_NAME: ("{team}", "{name}")},
    attributes=(
        Text("pk"),
        Text("sk"),
        Text("day", optional=True),
        Real("at", optional=True),
        Text("team", optional=True),
        Text("name", optional=True),
        Real("mag", optional=True),
        Text("kind", optional=True),
        Real("ttl", unit="epoch seconds", optional=True),
    ),
    open=True,
)
"""Its keys are its attributes as they are, and it takes any others."""

READINGS = TableDesign("readings", partition_key=KeyAttribute("station", "N"), sort_key=KeyAttribute("number", "N"))
"""Numbers for keys, no index, no expiry."""

READING = Entity(
    "READING", READINGS, key=("{station}", "{number}"), attributes=(Whole("station"), Real("number"), Text("value"))
)

BY_DAY = Index("ByDay", partition_key=KeyAttribute("gsi1pk", "S"), sort_key=KeyAttribute("gsi1sk", "N"))

PEOPLE = TableDesign(
    "people-{env}",
    partition_key=KeyAttribute("pk", "S"),
    sort_key=KeyAttribute("sk", "S"),
    indexes=(BY_DAY,),
    ttl="expires",
    entity="entity",
)
"""A table of several entities, two of them in the same partitions."""

PERSON = Entity(
    "PERSON",
    PEOPLE,
    key=("PERSON#{person}", "PERSON"),
    indexes={BY_DAY: ("DAY#{day}", "{seenMs}")},
    attributes=(
        Text("person", longest=40),
        Text("day", longest=8),
        Whole("seenMs", unit="epoch ms"),
        Real("score", optional=True),
        Truth("active", optional=True),
        JsonDocument("tags", optional=True),
    ),
)
VISIT = Entity(
    "VISIT",
    PEOPLE,
    key=("PERSON#{person}", "VISIT#{timestamp}#{requestId}"),
    attributes=(
        Text("person", longest=40, in_key_alone=True),
        Whole("timestamp", least=0, digits=13, unit="epoch ms", in_key_alone=True),
        Text("requestId", longest=36),
        Text("note", optional=True),
        Whole("expires", unit="epoch seconds", optional=True),
    ),
)
TOTALS = Entity("TOTALS", PEOPLE, key=("TOTALS", "ALL"), attributes=(Whole("visits", optional=True),), open=True)


def keyed(design: TableDesign) -> Entity:
    """An entity whose keys in the table, but not in its indexes, are its attributes as they are."""
    keys = design.partition_key, design.sort_key
    attributes = tuple(Text(each.name) if each.type == "S" else Real(each.name) for each in keys)
    return Entity("KEYED", design, key=(f"{{{keys[0].name}}}", f"{{{keys[1].name}}}"), attributes=attributes)


NOON = 1_700_000_000_000  # epoch milliseconds, where the tests' clock stands
NOON_SECONDS = NOON // 1000


def key(pk: str = "p", sk: str = "s") -> Key:
    """The key of a sample."""
    return SAMPLE.key_for(pk, sk)


def sample(pk: str = "p", sk: str = "s", /, **attributes: Any) -> Item:
    """An item with a primary key and whatever else is given."""
    return {"pk": pk, "sk": sk, **attributes}


def timed(sk: str, at: float, day: str = "mon", **attributes: Any) -> Item:
    """An item of the index `ByTime`."""
    return sample("p", sk, day=day, at=at, **attributes)


def sks(items: Sequence[Item]) -> list[str]:
    """The sort keys, in order, which tell the items of one partition apart."""
    return [item["sk"] for item in items]


class HeldClock:
    """A clock that a test holds still and moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now


class NamedColumns:
    """The columns of rows: named ones, some of which are read by a function, and one that only items may show."""

    def __init__(
        self, names: Sequence[str], read: Mapping[str, Callable[[Any], Any]] | None = None, *, last: str | None = None
    ) -> None:
        self.names = names
        self.width = len(names) + 1
        self._read = read or {}
        self._shown = (*names, last) if last else names

    def items(self, rows: Sequence[Row]) -> list[Item]:
        shown = [(name, self._read.get(name, lambda value: value)) for name in self._shown]
        return [
            {name: read(value) for (name, read), value in zip(shown, row, strict=False) if value is not None}
            for row in rows
        ]

    def reading(self, name: str) -> Callable[[Any], Any] | None:
        return self._read.get(name)
