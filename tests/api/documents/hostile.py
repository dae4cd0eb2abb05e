"""Documents that fit every limit of size, and are made to take long to prepare."""

from bisect import bisect_right
from collections.abc import Callable

from graphql import Lexer, Source, TokenKind

MOST_TOKENS, MOST_BYTES = 2000, 16_384


def tokens(text: str) -> int:
    """How many tokens a text has."""
    lexer, number = Lexer(Source(text)), 0
    while lexer.advance().kind is not TokenKind.EOF:
        number += 1
    return number


def largest(make: Callable[[int], str]) -> str:
    """The largest document of a kind, which grows with its number, each time by as many tokens."""
    one, two = tokens(make(1)), tokens(make(2))
    most = 1 + (MOST_TOKENS - 1 - one) // (two - one)
    return make(bisect_right(range(1, most + 1), MOST_BYTES, key=lambda number: len(make(number))))


def repeated(before: str, part: str, after: str) -> str:
    """As many parts as fit, each with its number in the place of `%d`, where it has one."""
    return largest(lambda n: before + "".join(part.replace("%d", str(i)) for i in range(n)) + after)


def doubled(levels: int) -> str:
    """Two fields of one name in each of two fields of one name, and so on."""
    inner = doubled(levels - 1) if levels > 1 else "name"
    return f"ofType {{ {inner} }} ofType {{ {inner} }}"


def in_one_selection(fragments: int, body: str) -> str:
    """Many fragments that are spread beside each other."""
    spreads = " ".join(f"...F{i}" for i in range(fragments))
    definitions = "".join(f"fragment F{i} on Event {{ {body} }}" for i in range(fragments))
    return f'{{ event(eventId: "x") {{ {spreads} }} }} {definitions}'


def in_layers(layers: int, width: int) -> str:
    """Fragments that each spread all of the next layer, one field further down."""
    definitions = [
        f"fragment F{layer}_{number} on __Type {{ "
        + (f"ofType {{ {_spreads(layer + 1, width)} }}" if layer + 1 < layers else "name")
        + " }"
        for layer in range(layers)
        for number in range(width)
    ]
    return f"{{ __schema {{ types {{ {_spreads(0, width)} }} }} }}" + "".join(definitions)


def _spreads(layer: int, width: int) -> str:
    return " ".join(f"...F{layer}_{number}" for number in range(width))


def multiplied(layers: int) -> str:
    """Fragments that each spread the next one under three names."""
    below = "{name}: nearby(first: 0) {{ nodes {{ ...F{next} }} }}"
    definitions = [
        f"fragment F{i} on Event {{ {' '.join(below.format(name=name, next=i + 1) for name in 'abc')} }}"
        for i in range(layers)
    ]
    leaves = (
        "id eventId eventTsMs time mag place lat lon depth dayBucket source ingestedAt magType type status updatedAt"
    )
    return (
        '{ event(eventId: "x") { ...F0 } }'
        + "".join(definitions)
        + f"fragment F{layers} on Event {{ {leaves} url tsunami felt alert sig }}"
    )


def sharing(operations: int, variables: str) -> str:
    """Operations that share a fragment with variables."""
    queries = "".join(f"query Q{i}($v: String!) {{ ...F }} " for i in range(operations))
    return f"{queries} fragment F on Query {{ events(filter: {{types: [{variables}]}}) {{ totalCount }} }}"


TOO_COMPLEX = {
    "operations": repeated("", "query Q%d{__typename} ", ""),
    "fragments": repeated("{ ...F0 }", "fragment F%d on Query { __typename }", ""),
    "leaves of one name": repeated('{ event(eventId: "x") {', " mag", "} }"),
    "pages of one name": repeated("{ events {", " nodes { mag }", "} }"),
    "fields of one name with arguments": repeated('{ event(eventId: "x") {', " nearby(first: 1) { totalCount }", "} }"),
    "fields of one name in each other": f"{{ __schema {{ types {{ {doubled(8)} }} }} }}",
    "long fields of one name": repeated("{ __schema { types {", " ofType { ofType { ofType { name } } }", "} } }"),
    "inline fragments": repeated("{ events { nodes {", " ... { mag }", "} } }"),
    "long fragments in one selection": largest(lambda n: in_one_selection(20, "mag " * n)),
    "many fragments in one selection": largest(lambda n: in_one_selection(49, "mag " * n)),
    "fragments in a few layers": in_layers(4, 12),
    "fragments in many layers": in_layers(7, 7),
    "fields that multiply": multiplied(5),
    "operations that share variables": largest(lambda n: sharing(49, "$v " * n)),
    "operations that share fragments": largest(
        lambda n: (
            "".join(f'query Q{i} {{ event(eventId: "{i}") {{ ...F{i % 2} ...F2 }} }} ' for i in range(40))
            + "".join(f"fragment F{i} on Event {{ {'mag ' * n} }} " for i in range(3))
        )
    ),
}
"""What is refused as too complex."""

OTHERS = {
    "unknown fields": repeated('{ event(eventId: "x") {', " plac%d", "} }"),
    "unknown fields of a value": repeated("{ events(filter: {", " minMagnitud%d: 1", "}) { totalCount } }"),
    "fields of a value": repeated("{ events(filter: {", " minMagnitude: 1", "}) { totalCount } }"),
    "values of an enumeration": repeated("{ events(orderBy: [", " TIME_ASC", "]) { totalCount } }"),
    "values of a list": repeated("{ nodes(ids: [", ' "a"', "]) { id } }"),
    "unknown arguments": repeated("{ events(", " firs%d: 1", ") { totalCount } }"),
    "arguments of one name": repeated("{ events(", " first: 1", ") { totalCount } }"),
    "variables": repeated("query (", " $v%d: Int", ") { __typename }"),
    "variables of one name": repeated("query (", " $v: Int", ") { __typename }"),
    "fields with large values": repeated(
        '{ event(eventId: "x") {', f" nearby(first: [{'1 ' * 60}]) {{ totalCount }}", "} }"
    ),
    "a circle of fragments": '{ event(eventId: "x") { ...F0 } }'
    + "".join(
        f"fragment F{i} on Event {{ {' '.join(f'...F{(i + j) % 30}' for j in range(1, 15))} }}" for i in range(30)
    ),
    "a chain of fragments": '{ event(eventId: "x") { ...F0 } }'
    + "".join(f"fragment F{i} on Event {{ ...F{i + 1} mag }}" for i in range(48))
    + "fragment F48 on Event { mag }",
    "fifty operations": "".join(f"query Q{i} {{ __typename }} " for i in range(50)),
    "inline fragments in each other": "{" + "... {" * 190 + "__typename" + "}" * 191,
    "lines": "\n" * 16_000 + "{ nothing nowhere }",
    "a number": f"{{ events(first: {'9' * 16_000}) {{ totalCount }} }}",
}
"""What is executed, or refused for another reason."""
