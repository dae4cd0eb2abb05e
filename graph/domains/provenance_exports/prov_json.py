"""Lineage as PROV-JSON: versions of files are entities, runs are activities, and their algorithms are agents.

A document tells of the given revisions and runs only, so it may leave out what a run used or generated. It is read
with any library of PROV.

Source: https://www.w3.org/submissions/prov-json/
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Any

from graph.core.errors import BadUserInput
from graph.domains.data_files.datasets import SOFTWARE
from graph.domains.data_files.model import FileRevision, Run
from graph.domains.data_files.references import Version
from graph.domains.provenance_exports.names import IRI, date_time, local_name
from graph.work.account import give_way

Attributes = Mapping[str, Any]
Statement = tuple[str, str | None, Attributes]
"""The section of a statement, its name, and what it says. A relation needs no name."""

STATEMENTS_PER_PIECE = 100  # before giving way to other work; each takes some 5 µs
MOST_PAIRS = 20_000  # of a revision and one that it was made from; a run has as many as both lists multiplied
PREFIXES = {SOFTWARE: IRI}


def _type(name: str) -> Attributes:
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


_DATA_FILE = _type(f"{SOFTWARE}:DataFileRevision")
_RUN = _type(f"{SOFTWARE}:Run")
_SOFTWARE_AGENT = _type("prov:SoftwareAgent")
_REVISION = _type("prov:Revision")
_OF_A_REVISION = {
    "revision": "number",
    "level": "level",
    "product": "product",
    "algorithmVersion": "algorithm_version",
    "checksum": "checksum",
    "size": "size",
}


async def prov_json(revisions: Collection[FileRevision], runs: Iterable[Run]) -> dict[str, Any]:
    """The document of some revisions and runs, and of all relations between them.

    Raises:
        BadUserInput: Each of many revisions was made from each of many others.
    """
    sections: defaultdict[str, dict[str, Attributes]] = defaultdict(dict)
    for at, (kind, name, attributes) in enumerate(_statements(revisions, runs)):
        if at % STATEMENTS_PER_PIECE == 0:
            await give_way()
        section = sections[kind]
        present = {each: value for each, value in attributes.items() if value is not None}
        section[name or f"_:{kind}{len(section) + 1}"] = present
    return {"prefix": PREFIXES, **sections}


def version_name(version: Version) -> str:
    """The qualified name of a version of a file."""
    return f"{SOFTWARE}:{local_name('file', version.name, str(version.revision))}"


def run_name(run_id: str) -> str:
    """The qualified name of a run."""
    return f"{SOFTWARE}:{local_name('run', run_id)}"


def algorithm_name(run: Run) -> str:
    """The qualified name of what a run ran."""
    return f"{SOFTWARE}:{local_name('algorithm', *filter(None, (run.algorithm, run.version)))}"


def _statements(revisions: Collection[FileRevision], runs: Iterable[Run]) -> Iterator[Statement]:
    names = {revision.version.reference: version_name(revision.version) for revision in revisions}
    for revision in revisions:
        yield "entity", names[revision.version.reference], _entity(revision)
    pairs = 0
    for run in runs:
        # What is stored is the references: a thousand runs have a million of them, and few are of the document.
        used = [names[each] for each in run.item["used"] if each in names]
        generated = [names[each] for each in run.item["generated"] if each in names]
        pairs += len(used) * len(generated)
        if pairs > MOST_PAIRS:
            raise BadUserInput(f"The document would tell of more than {MOST_PAIRS:,} derivations: ask for fewer nodes.")
        yield from _of_run(run, used, generated)
    for revision in revisions:
        yield from _of_history(revision, names)


def _of_run(run: Run, used: Sequence[str], generated: Sequence[str]) -> Iterator[Statement]:
    """The run, what ran, and its edges."""
    name, algorithm = run_name(run.run_id), algorithm_name(run)
    yield "activity", name, _activity(run)
    yield "agent", algorithm, _agent(run)
    yield "wasAssociatedWith", None, {"prov:activity": name, "prov:agent": algorithm}
    for each in used:
        yield "used", None, {"prov:activity": name, "prov:entity": each}
    ended_at = _time(run.ended_at)
    for each in generated:
        yield "wasGeneratedBy", None, {"prov:entity": each, "prov:activity": name, "prov:time": ended_at}
    for each, source in product(generated, used):
        yield "wasDerivedFrom", None, {**_derivation(each, source), "prov:activity": name}


def _of_history(revision: FileRevision, names: Mapping[str, str]) -> Iterator[Statement]:
    """What the revision replaced, and its end."""
    name = names[revision.version.reference]
    before = names.get(Version(revision.name, revision.number - 1).reference)
    if before is not None:
        yield "wasDerivedFrom", None, {**_derivation(name, before), "prov:type": _REVISION}
    if revision.invalidated_at is not None:
        ended = {
            "prov:entity": name,
            "prov:activity": run_name(revision.invalidated_by) if revision.invalidated_by else None,
            "prov:time": _time(revision.invalidated_at),
        }
        yield "wasInvalidatedBy", None, ended


def _entity(revision: FileRevision) -> Attributes:
    return {
        "prov:type": _DATA_FILE,
        "prov:label": revision.name,
        "prov:location": revision.url,
        **{f"{SOFTWARE}:{camel}": getattr(revision, name) for camel, name in _OF_A_REVISION.items()},
    }


def _activity(run: Run) -> Attributes:
    return {
        "prov:type": _RUN,
        "prov:label": run.algorithm,
        "prov:startTime": _time(run.started_at),
        "prov:endTime": _time(run.ended_at),
        f"{SOFTWARE}:state": run.state.value,
        f"{SOFTWARE}:configurationHash": run.configuration_hash,
    }


def _agent(run: Run) -> Attributes:
    return {"prov:type": _SOFTWARE_AGENT, "prov:label": run.algorithm, f"{SOFTWARE}:version": run.version}


def _derivation(name: str, source: str) -> Attributes:
    return {"prov:generatedEntity": name, "prov:usedEntity": source}


def _time(time: datetime | None) -> str | None:
    return date_time(time) if time else None
