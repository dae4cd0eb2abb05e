"""`quakegraph logs import`: stores the logs of files in batches, and prints what became of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path

import click
import orjson

from graph.command_line import progress_bar, shown_rejections
from graph.domain import Services
from graph.domains.service_logs.log_file import LineLog, LogReaders, read_logs
from graph.domains.service_logs.model import LogProblem, NewLog, RejectedLog, WriteReport
from graph.domains.service_logs.writing import MOST_LOGS, LogWriter

REJECTIONS_LISTED = 1000  # of a file; further ones are only counted
IDS_KEPT = 100_000  # derived ids of a file whose equal logs are still told apart, some 10 MB


@dataclass(frozen=True, slots=True)
class LineRejection:
    """A log that was not stored."""

    line: int  # from 1
    code: LogProblem
    message: str


@dataclass(slots=True)
class ImportReport:
    """What became of the logs of one source."""

    source: str
    read: int = 0  # always accepted + skipped + rejected
    accepted: int = 0
    skipped: int = 0  # logs that were stored already
    rejected: int = 0
    rejections: list[LineRejection] = field(default_factory=list)  # the first REJECTIONS_LISTED

    @property
    def succeeded(self) -> bool:
        """Whether not all of its logs were rejected."""
        return not self.read or self.rejected < self.read

    def add(self, lines: Sequence[int], written: WriteReport) -> None:
        """Add what became of a batch, whose logs are from these lines."""
        self.read += len(lines)
        self.accepted += written.accepted
        self.skipped += written.skipped
        self.rejected += written.rejected
        for rejection in written.rejections[: REJECTIONS_LISTED - len(self.rejections)]:
            self.rejections.append(LineRejection(lines[rejection.index], rejection.code, rejection.message))


async def import_all(services: Services, *, files: Sequence[str], as_json: bool) -> bool:
    """Store the logs of every file, and print what became of them. False if all logs of a file were rejected."""
    succeeded = True
    for name in files:
        report = await _import_file(services.of(LogWriter), services.of(LogReaders), name)
        click.echo(orjson.dumps(asdict(report)) if as_json else _lines(report))
        succeeded &= report.succeeded
    return succeeded


async def _import_file(writer: LogWriter, readers: LogReaders, name: str) -> ImportReport:
    report = ImportReport(name)
    ids: dict[str, int] = {}
    size = _size_of(name)
    with click.open_file(name, "rb") as stream, progress_bar(Path(name).name, size) as advance:
        for batch in _batches(read_logs(stream, readers)):
            report.add([each.line for each in batch], await writer.write(_in_order(batch), ids=ids))
            for oldest in list(islice(ids, max(len(ids) - IDS_KEPT, 0))):
                del ids[oldest]
            if size is not None:
                advance(stream.tell())
    return report


def _size_of(name: str) -> int | None:
    return None if name == "-" else Path(name).stat().st_size


def _batches(logs: Iterable[LineLog]) -> Iterator[list[LineLog]]:
    rest = iter(logs)
    while batch := list(islice(rest, MOST_LOGS)):
        yield batch


def _in_order(batch: Sequence[LineLog]) -> list[NewLog | RejectedLog]:
    """The logs of a batch. Its rejections get their places in it."""
    return [replace(log, index=index) if isinstance(log, RejectedLog) else log for index, (_, log) in enumerate(batch)]


def _lines(report: ImportReport) -> str:
    summary = (
        f"{report.source}: {report.read:,} read, {report.accepted:,} accepted, {report.skipped:,} skipped, "
        f"{report.rejected:,} rejected"
    )
    rejections = [f"line {each.line}: {each.code.value}: {each.message}" for each in report.rejections]
    return "\n".join([summary, *shown_rejections(rejections, report.rejected)])
