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


ATTRIBUTES = st.fixed_dictionaries(
    {"registered-at": times, "applicable-dates": st.lists(days, max_size=2)},
    optional={
        "level": words,
        "product": words,
        "checksum": checksums,
        "size": st.integers(0, 2**53),
        "url": st.text(ODD, min_size=1, max_size=30) | names.map("s3://bucket/{}".format),
        "algorithm-version": versions,
        "archive-time": times,
        "dataset-version": names,
    },
)
INVALIDATED = st.fixed_dictionaries({"invalidated-at": times}, optional={"invalidated-by": run_ids})

_job = st.fixed_dictionaries({"namespace": names, "name": names})
_run = st.fixed_dictionaries({"runId": run_ids})
_zulu = times.map(lambda text: f"{text.replace(' ', 'T')}Z")
FACETS = st.fixed_dictionaries(
    {},
    optional={
        "nominalTime": st.fixed_dictionaries({"nominalStartTime": _zulu}, optional={"nominalEndTime": _zulu}),
        "parent": st.fixed_dictionaries(
            {"run": _run, "job": _job}, optional={"root": st.fixed_dictionaries({"run": _run, "job": _job})}
        ),
        "processing_engine": st.fixed_dictionaries({"version": names}, optional={"name": names}),
        "manifest": names,
    },
)
"""What may be told of a run beside, by OpenLineage or by a manifest."""

TOLD = st.fixed_dictionaries(
    {"algorithm": names, "state": st.sampled_from(["RUNNING", "COMPLETE", "ABORTED", "FAILED"]), "recorded-at": times},
    optional={
        "version": versions,
        "namespace": names,
        "configuration-hash": checksums,
        "started-at": times,
        "ended-at": times,
        "facets": FACETS,
    },
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Revisions, and runs that used earlier ones and generated later ones. Each comes from one run at most.

    Each revision but the last of a file is invalidated.
    """
    revisions = []
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        last = draw(st.integers(1, 3))
        for number in range(1, last + 1):
            ended = draw(INVALIDATED) if number < last else {}
            revisions.append(FileRevision({**draw(ATTRIBUTES), **ended, "file-name": name, "revision": number}))
    references = [revision.version.reference for revision in revisions]
    runs = []
    begin = 0
    for run_id in draw(st.lists(run_ids, max_size=3, unique=True)):
        end = draw(st.integers(begin, len(references)))
        used = draw(st.lists(st.sampled_from(references[:begin]), unique=True)) if begin else []
        runs.append(Run({**draw(TOLD), "run-id": run_id, "used": used, "generated": references[begin:end]}))
        begin = end
    return Graph(revisions, runs)
