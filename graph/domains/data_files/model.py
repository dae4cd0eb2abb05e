"""The records of the data files. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from typing import Any

from graph.core.described import DescribedText, described, value
from graph.core.times import utc_time
from graph.domains.data_files.references import Version
from graph.domains.data_files.times import DATE_LENGTH, LONGEST_WITH_OFFSET, date_of, written
from graph.store.attributes import Filled, JsonDocument, Text, Whole
from graph.store.entity import Item
from graph.store.records import Converted, Derived, EntityRecord, Record, Stored, optional, stored

LONGEST_NAME = 400  # characters of a file's name
LONGEST_NAME_BYTES = 1000  # of it in UTF-8; with what is before and behind it, it is a sort key of an index
LONGEST_IDENTIFIER = 128
LONGEST_WORD = 64  # of a level, a product or a type
LONGEST_VERSION = 64
LONGEST_TEXT = 1024
REVISION_DIGITS = 6
REFERENCE_LENGTH = LONGEST_NAME + 1 + REVISION_DIGITS
RUN_ID_LENGTH = 36  # of a UUID
REPORT_LENGTH = 8  # of the id of a report
LARGEST_METADATA = 65_536  # bytes
FILES_LISTED = 100  # in the answer to a registration
LARGEST_LIST = 120_000  # bytes; of some 2,000 references

LEVELS = ("L0", "SPICE", "CAL", "L1A", "L1B", "L2", "ANC")  # as documented; other projects have others
DERIVED_LEVELS = frozenset({"L1A", "L1B", "L2"})  # files of these levels are made from others

FILE_NAME = Text(shortest=1, longest=LONGEST_NAME, in_key_alone=True)
WORD = Text(longest=LONGEST_WORD)
VERSION = Text(longest=LONGEST_VERSION)
RUN_ID = Text(shortest=RUN_ID_LENGTH, longest=RUN_ID_LENGTH, unit="UUID")
HASH = Text(longest=128, unit="hexadecimal digits")
DAY = Converted(Text(shortest=DATE_LENGTH, longest=DATE_LENGTH, unit="YYYY-MM-DD, UTC"), date_of)
TIME = Converted(Text(longest=LONGEST_WITH_OFFSET, unit="UTC"), utc_time, written)
COUNT = Whole(least=0)


def _days(texts: Sequence[str]) -> list[date]:
    return list(map(date_of, texts))


def registered_at(*times: str | None) -> str:
    """When a file of another program counts as registered: at the first time that it tells."""
    return next(filter(None, times), "1970-01-01 00:00:00")


class FileMetadata(Record):
    """What is registered of each revision of a file."""

    name = stored("file-name", FILE_NAME, "The name of the file.")
    archive_time = optional("archive-time", TIME, "As documented: when it was archived.")
    ingest_time = optional("ingest-time", TIME, "As documented: when it was ingested.")
    algorithm_version = optional("algorithm-version", VERSION, "The version of the algorithm that made it.")
    namespace = optional("namespace", Text(longest=LONGEST_NAME), "Where it is, as OpenLineage names that.")
    level = optional("level", WORD, "The level, such as `L1A`.")
    product = optional("product", WORD, "The product.")
    checksum = optional("checksum", HASH, "The checksum of its content, hexadecimal digits.")
    size = optional("size", Whole(least=0, unit="bytes"), "Its size, bytes.")
    url = optional("url", Text(longest=LONGEST_TEXT), "Where it is.")
    dataset_version = optional("dataset-version", Text(longest=LONGEST_NAME))  # in OpenLineage
    metadata: Stored[Mapping[str, Any] | None] = optional(
        "metadata", JsonDocument(largest=LARGEST_METADATA), "What else is known of it."
    )
    applicable_dates = stored(
        "applicable-dates",
        Converted(JsonDocument(largest=LARGEST_METADATA, optional=True), _days, list),
        "The UTC days that its data apply to.",
    )
    registered_at = stored(
        "registered-at",
        replace(TIME, kind=replace(TIME.kind, absent=Filled(registered_at, "archive-time", "ingest-time"))),
        "When it was registered.",
    )


class DataFile(FileMetadata, EntityRecord):
    """A data file, as its latest revision is."""

    type_name = "DataFile"

    revision = stored("revision", Whole(least=1, absent=1), "The number of the latest revision, from 1.")

    @property
    def version(self) -> Version:
        """The latest version."""
        return Version(self.name, self.revision)


class FileRevision(FileMetadata):
    """A revision of a data file. Runs use and generate revisions, never a file as such."""

    number = stored(
        "revision",
        Whole(least=1, greatest=10**REVISION_DIGITS - 1, digits=REVISION_DIGITS),
        "The number of the revision, from 1.",
    )
    version = Derived(Version, "file-name", "revision")  # what it is called in provenance
    generated_by = optional("generated-by", replace(RUN_ID, unit="UUID of a run"))
    invalidated_at = optional("invalidated-at", TIME, "When the next revision was registered; null for the latest one.")
    invalidated_by = optional("invalidated-by", Text(longest=RUN_ID_LENGTH, unit="UUID of the next one's run"))

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph."""
        return "DataFileRevision", self.version.reference

    @property
    def lacks_provenance(self) -> bool:
        """Whether it must have been made from other files, and no run tells from which."""
        return self.generated_by is None and self.level in DERIVED_LEVELS


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

    name = stored("file-name", FILE_NAME)
    stored_identifier = stored("identifier", Text(shortest=1, longest=LONGEST_IDENTIFIER, in_key_alone=True))
    calibrates = Derived(calibrated, "identifier", description="The level or product, such as `L0`.")
    applicable_date = optional("applicable-date", DAY, "The UTC day.")
    first_packet_time = optional("first-packet-time", TIME, "As documented: the time of the first packet.")
    last_packet_time = optional("last-packet-time", TIME, "As documented: the time of the last packet.")
    missing_packet_count = optional("missing-packet-count", COUNT, "The number of packets that are missing.")
    filled_gap_count = optional("filled-gap-count", COUNT, "The number of gaps that were filled.")
    archive_time = optional("archive-time", TIME, "As documented: when its file was archived.")
    calibration_version = optional("calibration-version", VERSION, "The version of the calibration.")
    type = optional("data-type", WORD, "The type of the data, such as `APID11`.")

    @property
    def identifier(self) -> str:
        """Its key in the file's metadata."""
        return identifier_of(self.item)

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Those of additional metadata."""
        return {name: value for name, value in self.item.items() if name not in self.entity.named}

    @property
    def is_sortable(self) -> bool:
        """Whether it is sortable metadata."""
        return "applicable-date" in self.item

    @property
    def is_calibration(self) -> bool:
        """Whether it is that of a calibration."""
        return "calibration-version" in self.item


class Calibration(MetadataPart):
    """A version of a calibration."""


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


VERSIONS = Converted(JsonDocument(largest=LARGEST_LIST), _versions)


class Run(EntityRecord):
    """A run of an algorithm: what it used, and what it generated."""

    type_name = "Run"

    run_id = stored("run-id", RUN_ID, "The run's own id, a UUID.")
    algorithm = stored("algorithm", Text(longest=LONGEST_TEXT), "The algorithm, or the job of a scheduler.")
    version = optional("version", VERSION, "The version of the algorithm.")
    namespace = optional("namespace", Text(longest=LONGEST_NAME), "The namespace of the job, in OpenLineage.")
    producer = optional("producer", Text(longest=LONGEST_TEXT), "What has reported the run, a URI.")
    state = stored("state", Converted(Text(longest=8), RunState), "How it went.")
    started_at = optional("started-at", TIME, "When it began.")
    ended_at = optional("ended-at", TIME, "When it ended; null if that is unknown.")
    configuration_hash = optional("configuration-hash", HASH, "The hash of its configuration.")
    facets: Stored[Mapping[str, Any] | None] = optional(
        "facets",
        JsonDocument(largest=LARGEST_METADATA // 2),
        "What else is known of it: facets of OpenLineage, or the name of its manifest.",
    )
    used = stored("used", VERSIONS)
    generated = stored("generated", VERSIONS)
    recorded_at = stored("recorded-at", TIME, "When it was first recorded.")


class Use(Record):
    """An edge from a version to a run that used it."""

    used = stored("used", Text(shortest=1, longest=REFERENCE_LENGTH, unit="reference of a version", in_key_alone=True))
    run_id = stored("run-id", RUN_ID)
    report = stored("report", Text(shortest=REPORT_LENGTH, longest=REPORT_LENGTH, unit="hexadecimal digits"))


class RegistrationProblem(DescribedText):
    """Why a file is not registered."""

    NAME_INVALID = "NAME_INVALID", "Its name is empty or has control characters."
    CHECKSUM_INVALID = "CHECKSUM_INVALID", "Its checksum is none, or is not that of the file."
    METADATA_INVALID = "METADATA_INVALID", "Its metadata cannot be stored."
    FILE_INVALID = "FILE_INVALID", "It breaks another rule."
    TOO_MANY_ITEMS = "TOO_MANY_ITEMS", "It has more days or items than are written at once."


@value
class DataFileRejection:
    """A file that is not registered."""

    index: int = described("Its place among the given files, from 0.")
    name: str = described("Its name.")
    code: RegistrationProblem = described("Why, as a stable code.")
    message: str = described("Why, in words.")


class DataFileOutcome(DescribedText):
    """What became of a file."""

    REGISTERED = "REGISTERED", "It is new, or has a new revision."
    SKIPPED = "SKIPPED", "It is registered as it is."


@value
class RegisteredFile:
    """What became of a file."""

    name: str
    index: int = described("Its place among the given files, from 0.")
    outcome: DataFileOutcome = described("What became of it.")


@value
class RegistrationReport:
    """What became of the files. Each is judged by itself."""

    rejections: list[DataFileRejection] = described("The rejected ones, with reasons.", default_factory=list)
    judged: list[RegisteredFile] = field(default_factory=list)  # the others

    @property
    def registered(self) -> int:
        """Number of new files, and new revisions of known ones."""
        return sum(each.outcome is DataFileOutcome.REGISTERED for each in self.judged)

    @property
    def skipped(self) -> int:
        """Number of files that are registered as they are."""
        return len(self.judged) - self.registered

    @property
    def rejected(self) -> int:
        """Number of files that break a rule."""
        return len(self.rejections)

    @property
    def files(self) -> list[RegisteredFile]:
        """The others, at most 100: those that were registered, and then those that were skipped."""
        skipped = DataFileOutcome.SKIPPED
        return sorted(self.judged, key=lambda each: (each.outcome is skipped, each.index))[:FILES_LISTED]
