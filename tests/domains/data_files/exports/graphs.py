"""Revisions of files and the runs between them: some with given attributes, and strategies with names of every sort."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from hypothesis import strategies as st

from graph.domains.data_files.model import FileRevision, Run
from graph.domains.data_files.references import Version
from graph.domains.data_files.times import time_text

RUN_ID = "0190c6a0-0000-7000-8000-000000000001"
REGISTERED_AT = "2024-01-05 12:00:00"


def a_revision(name: str, number: int = 1, **attributes: Any) -> FileRevision:
    """A revision of a file; `_` stands for a hyphen."""
    item = {"file-name": name, "revision": number, "applicable-dates": [], "registered-at": REGISTERED_AT}
    given = {name.replace("_", "-"): value for name, value in attributes.items() if value is not None}
    return FileRevision({**item, **given})


def a_run(used: Iterable[str], generated: Iterable[str], **attributes: Any) -> Run:
    """A run that has completed; `_` stands for a hyphen."""
    item = {"run-id": RUN_ID, "algorithm": "calibrate", "state": "COMPLETE", "recorded-at": REGISTERED_AT}
    given = {name.replace("_", "-"): value for name, value in attributes.items()}
    return Run({**item, "used": [*used], "generated": [*generated], **given})


ODD = st.sampled_from("aZ09 %#@:/\\.-_~'\"<>&?=+,;()[]{}|ßé日🌍́")
names = st.text(ODD, min_size=1, max_size=12).filter(str.isprintable)
words = st.from_regex(r"[-.0-9A-Z_a-z]{1,8}", fullmatch=True)
versions = st.from_regex(r"[!-~]{1,8}", fullmatch=True)
checksums = st.sampled_from([32, 40, 64, 128]).flatmap(
    lambda digits: st.text("0123456789abcdef", min_size=digits, max_size=digits)
)
times = st.datetimes(timezones=st.just(UTC)).map(time_text)
days = st.dates().map(str)
run_ids = st.uuids(version=4).map(str)


@dataclass(frozen=True)
class Graph:
    """Revisions, and runs between them."""

    revisions: list[FileRevision]
    runs: list[Run]

    @property
    def by_version(self) -> dict[Version, FileRevision]:
        """The revisions."""
        return {revision.version: revision for revision in self.revisions}


def _some(draw: st.DrawFn, **optional: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Some of the attributes."""
    drawn = {name.replace("_", "-"): draw(st.none() | values) for name, values in optional.items()}
    return {name: value for name, value in drawn.items() if value is not None}


@st.composite
def revisions_of_files(draw: st.DrawFn) -> list[FileRevision]:
    """One to three revisions of some files. Each but the last of a file is invalidated."""
    revisions = []
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        last = draw(st.integers(1, 3))
        for number in range(1, last + 1):
            item = _some(
                draw,
                level=words,
                product=words,
                checksum=checksums,
                size=st.integers(0, 2**53),
                url=st.text(ODD, min_size=1, max_size=30) | st.just(f"s3://bucket/{name}"),
                algorithm_version=versions,
                archive_time=times,
                dataset_version=names,
            )
            item |= {"file-name": name, "revision": number, "registered-at": draw(times)}
            item["applicable-dates"] = draw(st.lists(days, max_size=2))
            if number < last:
                item |= {"invalidated-at": draw(times), **_some(draw, invalidated_by=run_ids)}
            revisions.append(FileRevision(item))
    return revisions


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Revisions, and runs that used earlier ones and generated later ones. Each comes from one run at most."""
    revisions = draw(revisions_of_files())
    references = [revision.version.reference for revision in revisions]
    runs = []
    begin = 0
    for run_id in draw(st.lists(run_ids, max_size=3, unique=True)):
        end = draw(st.integers(begin, len(references)))
        item = _some(
            draw,
            version=versions,
            namespace=names,
            configuration_hash=checksums,
            started_at=times,
            ended_at=times,
            facets=facets(),
        )
        item |= {
            "run-id": run_id,
            "algorithm": draw(names),
            "state": draw(st.sampled_from(["RUNNING", "COMPLETE", "ABORTED", "FAILED"])),
            "used": draw(st.lists(st.sampled_from(references[:begin]), unique=True)) if begin else [],
            "generated": references[begin:end],
            "recorded-at": draw(times),
        }
        runs.append(Run(item))
        begin = end
    return Graph(revisions, runs)


@st.composite
def facets(draw: st.DrawFn) -> dict[str, Any]:
    """What may be told of a run beside, by OpenLineage or by a manifest."""
    job = st.fixed_dictionaries({"namespace": names, "name": names})
    run = st.fixed_dictionaries({"runId": run_ids})
    both = st.fixed_dictionaries({"run": run, "job": job})
    zulu = times.map(lambda text: f"{text.replace(' ', 'T')}Z")
    return draw(
        st.fixed_dictionaries(
            {},
            optional={
                "nominalTime": st.fixed_dictionaries({"nominalStartTime": zulu}, optional={"nominalEndTime": zulu}),
                "parent": st.fixed_dictionaries({"run": run, "job": job}, optional={"root": both}),
                "processing_engine": st.fixed_dictionaries({"version": names}, optional={"name": names}),
                "manifest": names,
            },
        )
    )
