"""The result as Markdown: a table of servers, a table of ratios, and notes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.load import Measurement
from benchmarks.markdown import table

INGEST = "ingest, events/s"


@dataclass(slots=True)
class Row:
    """The measurements of one server."""

    key: str
    name: str
    rounds: dict[str, list[Measurement]] = field(default_factory=dict)  # by the query's name, requests all different
    again: dict[str, list[Measurement]] = field(default_factory=dict)  # the same, a few requests again and again
    wrong: set[str] = field(default_factory=set)  # columns with a wrong answer
    ingests: list[float] = field(default_factory=list)  # events per second, one for each run
    memory_mb: float | None = None

    def rate(self, column: str) -> float | None:
        """The median of a column; None if it was not measured or an answer was wrong."""
        if column in self.wrong:
            return None
        rates = self.ingests if column == INGEST else [each.rate for each in self.rounds.get(column, ())]
        return median(rates) if rates else None


def markdown(rows: Sequence[Row], queries: Sequence[str], title: str, notes: Sequence[str]) -> str:
    """The whole page; `queries` are names."""
    columns = [*queries, INGEST]
    measured = table(
        [f"{title}: answers/s, p50 / p99", *columns, "memory, MB"],
        [[row.name, *(_cell(row, column) for column in columns), _memory(row)] for row in rows],
    )
    ours = [row for row in rows if row.key == "ours"]
    peers = [row for row in rows if row.key != "ours"]
    ratios = table(
        ["ratio", *columns],
        [
            [f"ours / {peer.name}", *(_ratio(mine, peer, column) for column in columns)]
            for mine in ours
            for peer in peers
        ],
    )
    asked_again = table(
        ["asked again and again / never asked before", *queries],
        [[row.name, *(_of_again(row, query) for query in queries)] for row in rows],
    )
    listed = "\n".join(f"- {note}" for note in notes)
    shown = [
        measured,
        *([ratios] if ours and peers else []),
        *([asked_again] if any(row.again for row in rows) else []),
    ]
    return "\n\n".join([*shown, listed]) + "\n"


def _cell(row: Row, column: str) -> str:
    if column in row.wrong:
        return "WRONG"
    rate = row.rate(column)
    if rate is None:
        return "–"
    if column == INGEST:
        return f"**{_number(rate)}**"
    rounds = row.rounds[column]
    p50, p99 = median(each.p50 for each in rounds), median(each.p99 for each in rounds)
    return f"**{_number(rate)}** {_duration(p50)} / {_duration(p99)}"


def _memory(row: Row) -> str:
    return "–" if row.memory_mb is None else f"{row.memory_mb:.0f}"


def _ratio(ours: Row, peer: Row, column: str) -> str:
    mine, theirs = ours.rate(column), peer.rate(column)
    return f"{_number(mine / theirs)} ×" if mine and theirs else "–"


def _of_again(row: Row, query: str) -> str:
    """How many times as fast a query is that was asked before."""
    rate, rounds = row.rate(query), row.again.get(query)
    return f"{_number(median(each.rate for each in rounds) / rate)} ×" if rate and rounds else "–"


def _number(value: float) -> str:
    """A number with three significant figures, or without decimals from 100 on."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _duration(milliseconds: float) -> str:
    return f"{_number(milliseconds)} ms" if milliseconds < 1000 else f"{_number(milliseconds / 1000)} s"
