"""A graph in which everything is that compiled functions may meet, and documents and records for it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from itertools import product
from typing import Annotated, Any

import strawberry
from graphql import ExecutionResult, GraphQLSchema, OperationDefinitionNode, parse
from hypothesis import strategies as st
from strawberry.schema.config import StrawberryConfig
from strawberry.types import Info

from graph.api.fast import execution
from graph.api.fast.coercion import Coercions
from graph.api.fast.execution import Request
from graph.api.fast.plan import OperationPlan
from graph.api.fast.resolvers import replace_slow_resolvers
from graph.api.relay import itself_with
from graph.api.scalars import SCALARS, EpochMillis
from graph.core.paging import Later
from graph.store.attributes import JsonDocument
from graph.store.records import Derived, Record, Records, Stored
from graph.store.rows import Rows
from tests.store.samples import NamedColumns


@strawberry.enum
class Colour(Enum):
    GREY = "grey"
    RED = "red"


ANY = JsonDocument()


def _louder(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


def _end(text: Any) -> Any:
    return text[-2:]  # which fails for a number


def _label(name: Any, weight: Any) -> str:
    return f"{name} of {weight:.1f} kg"  # fails for the weight of most other types


class StoneRecord(Record):
    """A stone as a store holds it. What it stands on is another item inside of its own."""

    name = Stored[Any]("name", ANY)
    weight = Stored[Any]("weight", ANY)
    count = Stored[Any]("count", ANY, optional=True)
    heavy = Stored[Any]("heavy", ANY, bool, optional=True)
    key = Stored[Any]("key", ANY, _end)
    millis = Stored[Any]("millis", ANY)
    when = Stored[Any]("when", ANY, optional=True)
    colour = Stored[Any]("colour", ANY)
    shade = Stored[Any]("shade", ANY, Colour, optional=True)
    tags = Stored[Any]("tags", ANY, optional=True)
    marks = Stored[Any]("marks", ANY, _louder, optional=True)
    grain = Stored[Any]("grain", ANY, optional=True)
    label = Derived(_label, "name", "weight")
    size = Derived(lambda: 1.5)

    @property
    def below(self) -> Any:
        below = self.item.get("below")
        return StoneRecord(below) if isinstance(below, dict) else below

    @property
    def beside(self) -> Any:
        beside = self.item.get("beside", [])
        return [StoneRecord(each) if isinstance(each, dict) else each for each in beside]

    def __repr__(self) -> str:
        """Of what is there: Hypothesis shows stones that lack a value."""
        return f"StoneRecord({self.item!r})"


@strawberry.interface
class Named:
    name: str


@strawberry.type
class Grain:
    """What has no interface, so that no type is asked whether a value is one of it."""

    size: float


@strawberry.type
class Spot:
    """A stone as another type, and a field of it that needs no attribute."""

    weight: float
    millis: EpochMillis
    label: str
    size: float


@strawberry.type
class Stone(Named):
    weight: float
    count: int | None
    heavy: bool | None
    key: strawberry.ID
    millis: EpochMillis
    when: datetime | None
    colour: Colour
    shade: Colour | None
    tags: list[str] | None
    marks: list[str] | None
    grain: Grain | None
    label: str
    spot: Spot | None = strawberry.field(resolver=itself_with("weight"))
    below: "Stone | None"
    beside: "list[Stone | None]"

    @classmethod
    def is_type_of(cls, record: object, info: object) -> bool:
        return isinstance(record, StoneRecord)

    @strawberry.field
    @staticmethod
    def shout(record: strawberry.Parent[Any]) -> str:
        return record.name.upper()  # type: ignore[no-any-return]  # which fails where it is no text

    @strawberry.field
    @staticmethod
    async def whisper(record: strawberry.Parent[Any]) -> str:
        return str(record.name).lower()

    @strawberry.field
    @staticmethod
    def times(record: strawberry.Parent[Any], n: int = 2) -> str:
        return f"{record.name}" * n

    @strawberry.field
    @staticmethod
    def among(record: strawberry.Parent[Any], info: Info["Quarry", None], more: int | None = None) -> int:
        return len(info.context.stones) + (more or 0)

    @strawberry.field
    @staticmethod
    def asked(record: strawberry.Parent[Any], info: Info["Quarry", None]) -> str:
        return f"{info.field_name} of {record.name}"  # which only the executor knows

    @strawberry.field
    @staticmethod
    def itself(record: strawberry.Parent[Any]) -> "Stone":
        return record  # type: ignore[no-any-return]


@strawberry.input
class Corner:
    x: float
    label: str | None = None


@strawberry.input
class Chain:
    next: "Chain | None" = None
    corners: list[Corner] | None = None


@strawberry.input
class Sieve:
    least: float | None = None
    colours: list[Colour] | None = None
    corners: list[Corner] | None = None
    name: str = "any"
    after: datetime | None = None
    exact: EpochMillis | None = None


@dataclass
class Quarry:
    """The context: what resolvers find."""

    stones: Sequence[Any] = field(default_factory=list)


@strawberry.type
class Query:
    @strawberry.field(graphql_type=list[Stone])
    async def stones(self, info: Info[Quarry, None]) -> Any:
        return info.context.stones

    @strawberry.field(graphql_type=list[Stone | None] | None)
    async def perhaps(self, info: Info[Quarry, None]) -> Any:
        return info.context.stones

    @strawberry.field(graphql_type=list[Named | None])
    async def named(self, info: Info[Quarry, None]) -> Any:
        return info.context.stones

    @strawberry.field
    async def first(self, info: Info[Quarry, None]) -> Stone | None:
        return info.context.stones[0] if info.context.stones else None

    @strawberry.field
    async def sieved(
        self,
        info: Info[Quarry, None],
        sieve: Annotated[Sieve | None, strawberry.argument(description="Which.")] = None,
        sieves: list[Sieve | None] | None = None,
        size: int = 3,
        at_least: float | None = None,
    ) -> str:
        return repr((sieve, sieves, size, at_least))

    @strawberry.field
    async def chained(self, chain: Chain) -> str:
        return repr(chain)


def _schema() -> GraphQLSchema:
    config = StrawberryConfig(scalar_map=SCALARS)
    schema: GraphQLSchema = strawberry.Schema(Query, types=[Stone], config=config)._schema
    return schema


def plan_of(
    text: str,
    schema: GraphQLSchema | None = None,
    coercions: Coercions | None = None,
    *,
    no_location: bool = False,
    **options: Any,
) -> OperationPlan:
    """The plan of a document's only operation; without locations, it has no tokens, which are in a cycle."""
    document = parse(text, no_location=no_location)
    (operation,) = (node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    return OperationPlan(schema or SHORTENED, coercions or Coercions(), document, operation, **options)


async def execute(plan: OperationPlan, context: Any, **given: object) -> ExecutionResult:
    """What the plan answers to right variables."""
    variables = plan.variables(given, max_errors=5)
    assert not isinstance(variables, list)
    return await execution.execute(plan, Request(variables, context))


ORDINARY = _schema()
SHORTENED = _schema()
replace_slow_resolvers(SHORTENED.type_map.values())


async def _soon(value: Any) -> Any:
    return value


ODD: list[Any] = [
    *(None, "", "text", 3, -(2**40), 2**63 - 1, 2.5, 2.0, float("nan"), float("inf"), True, False, [], ["a"], [None]),
    *({}, Colour.RED, "red", datetime(2023, 8, 3, tzinfo=UTC), ValueError("odd"), Later(lambda: _soon("later"))),
]
"""What an attribute may hold beside what its type says."""

RIGHT: dict[str, st.SearchStrategy[Any]] = {
    "name": st.text(max_size=3),
    "weight": st.floats(allow_nan=False, allow_infinity=False),
    "count": st.integers(-5, 5),
    "heavy": st.sampled_from([0, 1, True]),
    "key": st.text(max_size=3),
    "millis": st.integers(0, 2**52),
    "when": st.just(datetime(2023, 8, 3, 2, 52, 13, tzinfo=UTC)),
    "colour": st.sampled_from(Colour),
    "shade": st.sampled_from(["grey", "red"]),
    "tags": st.lists(st.text(max_size=2), max_size=2),
    "marks": st.lists(st.text(max_size=2), max_size=2),
}


@st.composite
def items(draw: st.DrawFn, depth: int = 0) -> dict[str, Any]:
    """A stone's item, right but for at most two attributes."""
    item = {name: draw(strategy) for name, strategy in RIGHT.items()}
    if depth < 2:
        item["below"] = draw(st.none() | items(depth + 1))
        item["beside"] = draw(st.lists(st.none() | items(depth + 1), max_size=2))
    for name in draw(st.lists(st.sampled_from(sorted(item)), max_size=draw(st.sampled_from([0, 0, 0, 1, 2])))):
        if name == "beside":
            item[name] = [*item[name], draw(st.sampled_from(ODD))]
        elif draw(st.booleans()):
            item[name] = draw(st.sampled_from(ODD))
        else:
            item.pop(name, None)
    return item


def in_rows(stones: Iterable[dict[str, Any]], without: Iterable[str] = ()) -> Records[StoneRecord]:
    """The stones of these items, as an engine returns them that reads rows."""
    names = [name for name in (*RIGHT, "grain", "below", "beside") if name not in without]
    columns = NamedColumns(names, dict.fromkeys(("tags", "heavy"), lambda value: value))
    rows = [(*(item.get(name) for name in names), "not an attribute") for item in stones]
    return Records(StoneRecord, Rows(columns, rows))


def quarries() -> st.SearchStrategy[Quarry]:
    """Some stones, of which one may be none, or some in rows."""
    stones = st.lists(items().map(StoneRecord), max_size=3)
    odd = st.lists(st.sampled_from(ODD), max_size=1)
    records = st.builds(lambda some, others: Quarry([*some, *others]), stones, st.just([]) | st.just([]) | odd)
    unread = st.sampled_from([(), (), ("count",), ("name", "tags")])
    return records | st.builds(in_rows, st.lists(items(), max_size=3), unread).map(Quarry)


LEAVES = (
    *("name", "weight", "count", "heavy", "key", "millis", "when", "colour", "shade", "tags", "marks", "label"),
    *("shout", "whisper", "among", "asked"),
)


@st.composite
def directives(draw: st.DrawFn) -> str:
    """Mostly none."""
    names = draw(st.sampled_from([[], [], [], ["skip"], ["include"], ["skip", "include"]]))
    return "".join(f" @{name}(if: {draw(st.sampled_from(['$yes', '$no', 'true', 'false']))})" for name in names)


FLAT = (*["{leaf}{tail}"] * 3, "{leaf}_{n}: {leaf}{tail}", "__typename{tail}", "...{tail} {{ {leaf} }}")
SPREAD = ("... on Stone{tail} {{ {inner} }}", "...Few{tail}", "...More{tail}")
OF_STONES = (
    *(f"{name}{{tail}} {{{{ {{inner}} }}}}" for name in ("below", "beside", "itself")),
    *("times{n}: times(n: {n}){tail}", "more{n}: among(more: {n}){tail}", "spot{tail} {{ {spot} }}"),
)
SPOT = st.lists(st.sampled_from(["weight", "millis", "label", "size", "__typename"]), min_size=1)


@st.composite
def selections(draw: st.DrawFn, of: str = "Stone", depth: int = 0) -> str:
    """A selection set of a stone, or of something named."""
    kinds = FLAT + (SPREAD if depth < 2 else ()) + (OF_STONES if of == "Stone" and depth < 2 else ())
    parts = []
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4)):
        leaf = draw(st.sampled_from(LEAVES if of == "Stone" else ("name",)))
        inner = draw(selections("Stone", depth + 1)) if "{inner}" in kind else ""
        spot = " ".join(draw(SPOT)) if "{spot}" in kind else ""
        n = draw(st.integers(1, 2))
        parts.append(kind.format(leaf=leaf, n=n, tail=draw(directives()), inner=inner, spot=spot))
    return " ".join(parts)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A query of one or more root fields."""
    roots = draw(
        st.lists(st.sampled_from(["stones", "perhaps", "named", "first"]), min_size=1, max_size=2, unique=True)
    )
    asked = " ".join(f"{root} {{ {draw(selections('Named' if root == 'named' else 'Stone'))} }}" for root in roots)
    return (
        f"query ($yes: Boolean!, $no: Boolean = false) {{ {asked} __typename @include(if: $yes) @skip(if: $no) }}\n"
        f"fragment Few on Stone {{ name weight }}\n"
        f"fragment More on Stone {{ ...Few count below {{ ...Few shout }} }}"
    )


BROKEN_SIEVES: list[Any] = [
    *({"other": 1}, {"least": 1, "other": 1}, {"corners": [{}]}, {"corners": [{"x": None}]}, {"corners": [None]}),
    *({"name": None}, {"colours": ["BLUE"]}, {"after": "soon"}, {"exact": 2**53}, {"least": float("nan")}, 7, "x", []),
]


RIGHT_SIEVES: list[Any] = [
    *(None, {}, {"least": 2}, {"least": None, "name": "b"}, {"exact": 1e12}, {"colours": "RED", "corners": {"x": 1}}),
    {"least": 2.5, "colours": ["GREY", "RED"], "corners": [{"x": 1, "label": "a"}, {"x": 2.5, "label": None}]},
    *({"colours": [], "corners": []}, {"colours": None, "corners": None, "after": None, "exact": None}),
    {"after": "2023-08-03T02:52:13Z", "exact": 7},
]
SENT: dict[str, tuple[str, list[Any]]] = {
    "sieve": ("Sieve", RIGHT_SIEVES),
    "sieves": ("[Sieve]", [*RIGHT_SIEVES, [], [None], RIGHT_SIEVES, RIGHT_SIEVES[2:4]]),
    "size": ("Int!", [1, 3.0, -5]),
    "atLeast": ("Float", [None, 2, 2.5]),
}
"""Variable → its type, and what may be sent for it."""
WRITTEN = {
    "sieve": ("", "null", "{}", '{least: 2, name: "b"}', "{corners: {x: 1}, colours: [RED]}", "{least: $atLeast}"),
    "sieves": ("", "null", "[]", "[null, {exact: 7}]", "{least: 1.5}"),
    "size": ("", "4"),
    "atLeast": ("", "null", "2", "2.5"),
}
"""Argument → how it may stand in the document, unless it is a variable. One that is empty is left out."""


def questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Queries of one field with arguments in all ways, and what is sent for their variables."""
    for number, ways in enumerate(product(*((*written, f"${name}") for name, written in WRITTEN.items()))):
        listed = ", ".join(f"{name}: {way}" for name, way in zip(WRITTEN, ways, strict=True) if way)
        # A variable that may be null stands in for one that may not, where it has a default.
        types = {name: "Int = 5" if name == "size" and number % 2 else of for name, (of, _) in SENT.items()}
        declared = ", ".join(f"${name}: {of}" for name, of in types.items() if f"${name}" in listed)
        chain = "chained(chain: {next: {corners: [{x: 1}]}})" if number % 3 else ""
        text = (
            f"query {f'({declared})' if declared else ''} "
            f"{{ sieved{f'({listed})' if listed else ''} {chain} __typename @skip(if: true) }}"
        )
        for turn in range(4):
            sent = {
                name: values[(number + turn) % len(values)]
                for at, (name, (_, values)) in enumerate(SENT.items())
                if (number + turn + at) % 4  # else it is not sent
            }
            if turn == 0 and (names := [name for name in SENT if f"${name}" in listed]):
                sent[names[number % len(names)]] = BROKEN_SIEVES[number % len(BROKEN_SIEVES)]
            yield text, sent


PLACES = {name: name for name in LEAVES} | {
    "grain": "grain { __typename }",
    "spot": "spot { weight size }",
    "below": "below { __typename name }",
    "beside": "beside { __typename }",
}
"""Attribute → how it is selected."""


def right_stone(**changes: Any) -> StoneRecord:
    """A stone in which all is right but what is changed."""
    grain = StoneRecord({"size": 1.5})
    item = {
        "name": "a",
        "weight": 1.5,
        "count": 1,
        "heavy": 1,
        "key": "k",
        "millis": 1,
        "when": None,
        "tags": ["t"],
        "marks": ["m"],
        "colour": Colour.GREY,
        "shade": "red",
        "grain": grain,
        "below": None,
        "beside": [],
    }
    return StoneRecord({**item, **changes})
