"""The records of the data files. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from graph.core.described import DescribedText, described, value
from graph.domains.data_files.entities import BY_CALIBRATION, BY_DATE, FILE, FILE_REVISION, PART, RUN, USED
from graph.domains.data_files.references import Version
from graph.domains.data_files.times import time_of, written
from graph.store.entity import Item
from graph.store.ordering import Ordering
from graph.store.records import Derived, EntityRecord, Record, Stored

LEVELS = ("L0", "SPICE", "CAL", "L1A", "L1B", "L2", "ANC")  # as documented; other projects have others
DERIVED_LEVELS = frozenset({"L1A", "L1B", "L2"})  # files of these levels are made from others


def _days(texts: Sequence[str]) -> list[date]:
    return [date.fromisoformat(text) for text in texts]


class FileMetadata(Record):
    """What is registered of each revision of a file."""

    __slots__ = ()

    name = Stored[str]("file-name")
    namespace = Stored[str | None]("namespace", optional=True)
    level = Stored[str | None]("level", optional=True)
    product = Stored[str | None]("product", optional=True)
    archive_time = Stored("archive-time", time_of, optional=True, written=written)
    ingest_time = Stored("ingest-time", time_of, optional=True, written=written)
    algorithm_version = Stored[str | None]("algorithm-version", optional=True)
    checksum = Stored[str | None]("checksum", optional=True)
    size = Stored[int | None]("size", optional=True)
    url = Stored[str | None]("url", optional=True)
    metadata = Stored[Mapping[str, Any] | None]("metadata", optional=True)
    applicable_dates = Stored("applicable-dates", _days, written=list)
    registered_at = Stored("registered-at", time_of, written=written)


class DataFile(FileMetadata, EntityRecord):
    """A data file, as its latest revision is."""

    __slots__ = ()
    entity, type_name = FILE, "DataFile"

    revision = Stored[int]("revision")

    @property
    def version(self) -> Version:
        """The latest version."""
        return Version(self.name, self.revision)


BY_APPLICABLE_DATE = Ordering("datafiles", PART, BY_DATE, descending=True)


class ListedFile(DataFile):
    """A data file in the list by applicable date, where it has the place of one of its items."""

    __slots__ = ()

    cursor = BY_APPLICABLE_DATE.cursors()


class FileRevision(FileMetadata):
    """A revision of a file, as it was registered. It is what runs use and generate."""

    __slots__ = ()
    entity = FILE_REVISION

    number = Stored[int]("revision")
    version = Derived(Version, "file-name", "revision")  # what it is called in provenance
    dataset_version = Stored[str | None]("dataset-version", optional=True)
    generated_by = Stored[str | None]("generated-by", optional=True)
    invalidated_at = Stored("invalidated-at", time_of, optional=True, written=written)
    invalidated_by = Stored[str | None]("invalidated-by", optional=True)

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph."""
        return "DataFileRevision", self.version.reference

    @property
    def lacks_provenance(self) -> bool:
        """Whether it must have been made from other files, and no run tells from which."""
        return self.generated_by is None and self.level in DERIVED_LEVELS


REVISIONS = Ordering("datafilerevisions", FILE_REVISION, FILE_REVISION.table.primary, descending=True)


def identifier_of(part: Item) -> str:
    """The key of an item in its file's metadata, without the mark of one that was written ahead of the file."""
    identifier: str = part.get("plain-identifier") or part["identifier"]
    return identifier


CALIBRATION = "CAL#"  # before what a file calibrates, in the identifier of its item


def calibrated(identifier: str) -> str:
    """What the item with this identifier calibrates."""
    return identifier.removeprefix(CALIBRATION).partition("#")[0]


class MetadataPart(Record):
    """A further item of a file's metadata: sortable, additional, or of a calibration."""

    __slots__ = ()

    type = Stored[str | None]("data-type", optional=True)
    applicable_date = Stored("applicable-date", date.fromisoformat)
    first_packet_time = Stored("first-packet-time", time_of, optional=True, written=written)
    last_packet_time = Stored("last-packet-time", time_of, optional=True, written=written)
    missing_packet_count = Stored[int | None]("missing-packet-count", optional=True)
    filled_gap_count = Stored[int | None]("filled-gap-count", optional=True)
    calibration_version = Stored[str]("calibration-version")

    @property
    def identifier(self) -> str:
        """Its key in the file's metadata."""
        return identifier_of(self.item)

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Those of additional metadata."""
        return {name: value for name, value in self.item.items() if name not in PART.named}

    @property
    def calibrates(self) -> str:
        """The level or product that it calibrates."""
        return calibrated(self.identifier)

    @property
    def is_sortable(self) -> bool:
        """Whether it is sortable metadata."""
        return "applicable-date" in self.item

    @property
    def is_calibration(self) -> bool:
        """Whether it is that of a calibration."""
        return "calibration-version" in self.item


class Calibration(Record):
    """What a calibration file calibrates, and its version."""

    __slots__ = ()

    name = Stored[str]("file-name")
    identifier = Stored[str]("identifier")
    calibrates = Derived(calibrated, "identifier")  # the level or product
    calibration_version = Stored[str]("calibration-version")
    archive_time = Stored("archive-time", time_of, optional=True, written=written)


CALIBRATIONS = Ordering("calibrations", PART, BY_CALIBRATION, descending=True)


class RunState(DescribedText):
    """How a run went.

    The values are in the order in which one replaces another. What a complete run has generated stays.
    """

    RUNNING = "RUNNING", "It goes on."
    ABORTED = "ABORTED", "It was stopped."
    FAILED = "FAILED", "It has failed."
    COMPLETE = "COMPLETE", "It has generated its files."

    @property
    def is_end(self) -> bool:
        """Whether the run has ended."""
        return self is not RunState.RUNNING


def _versions(references: Sequence[str]) -> list[Version]:
    return [version for each in references if (version := Version.of(each))]


class Run(EntityRecord):
    """A run of an algorithm: what it used, and what it generated."""

    __slots__ = ()
    entity, type_name = RUN, "Run"

    run_id = Stored[str]("run-id")
    algorithm = Stored[str]("algorithm")
    version = Stored[str | None]("version", optional=True)
    namespace = Stored[str | None]("namespace", optional=True)
    producer = Stored[str | None]("producer", optional=True)
    state = Stored[RunState]("state", RunState)
    started_at = Stored("started-at", time_of, optional=True, written=written)
    ended_at = Stored("ended-at", time_of, optional=True, written=written)
    configuration_hash = Stored[str | None]("configuration-hash", optional=True)
    facets = Stored[Mapping[str, Any] | None]("facets", optional=True)
    used = Stored("used", _versions)
    generated = Stored("generated", _versions)
    recorded_at = Stored("recorded-at", time_of, written=written)


class Use(Record):
    """An edge from a version to a run that used it."""

    __slots__ = ()

    run_id = Stored[str]("run-id")
    report = Stored[str]("report")


USES = Ordering("uses", USED, USED.table.primary)


EDGE = "edge"


class UsingRun(Run):
    """A run in the list of those that used a version. Its item has the edge, too."""

    __slots__ = ()

    cursor = Derived(USES.cursor_of, EDGE)


class RegistrationProblem(DescribedText):
    """Why a file is not registered."""

    NAME_INVALID = "NAME_INVALID", "Its name is empty or has control characters."
    CHECKSUM_INVALID = "CHECKSUM_INVALID", "Its checksum is none, or is not that of the file."
    METADATA_INVALID = "METADATA_INVALID", "Its metadata cannot be stored."
    FILE_INVALID = "FILE_INVALID", "It breaks another rule."
    TOO_MANY_ITEMS = "TOO_MANY_ITEMS", "It has more days or items than are written at once."


@value
class FileRejection:
    """A file that is not registered."""

    index: int = described("Its place among the given files, from 0.")
    name: str = described("Its name.")
    code: RegistrationProblem = described("Why, as a stable code.")
    message: str = described("Why, in words.")


@dataclass(slots=True)
class RegistrationReport:
    """What became of some files."""

    registered: int = 0  # new files, and new revisions of known ones
    skipped: int = 0  # that are registered as they are
    rejected: int = 0
    rejections: list[FileRejection] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of those that are registered now or were

    def reject(self, rejection: FileRejection) -> None:
        """Count a file that is not registered."""
        self.rejected += 1
        self.rejections.append(rejection)
