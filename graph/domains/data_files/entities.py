"""The documented table `libera-metadata`: data files with their metadata, and the runs that made them.

A file's partition has the documented items: `#`, the metadata of the file itself, and one item for each further piece
of metadata, `#L0#APID11` or `#CAL#L0`. Beside them is each revision of the file, whole. A run is an item of its own,
and each version that it used has an edge to it.

The table has three indexes: by applicable date, as documented, of the calibrations, by their versions, and of our own
runs that have not ended.
"""

from graph.domains.data_files.times import DATE_LENGTH, LONGEST_TIME
from graph.runtime.lease import LEASE_ATTRIBUTES
from graph.store.attributes import JsonDocument, Text, Truth, Whole
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity

LONGEST_NAME = 400  # characters of a file's name, in UTF-8 within the keys of a table
LONGEST_IDENTIFIER = 128
MARK_LENGTH = 16  # of what is behind the identifiers of items that are written ahead of their file
LONGEST_WORD = 64  # of a level, a product or a type
LONGEST_VERSION = 64
LONGEST_NAME_IN_ORDER = 160  # characters of a file's name behind its calibration's version
LONGEST_TEXT = 1024
REVISION_DIGITS = 6
MOST_REVISIONS = 10**REVISION_DIGITS - 1
REFERENCE_LENGTH = LONGEST_NAME + 1 + REVISION_DIGITS
RUN_ID_LENGTH = 36  # of a UUID
REPORT_LENGTH = 8  # of the id of a report
ONLY_NAMED = ""  # the fingerprint of a file that is known by name alone, from a run or another program
LARGEST_METADATA = 65_536  # bytes
LARGEST_LIST = 120_000  # bytes; of some 2,000 references

BY_DATE = Index("ApplicableDateIndex", KeyAttribute("applicable-date", "S"), KeyAttribute("SK", "S"))
BY_CALIBRATION = Index("CalibrationIndex", KeyAttribute("SK", "S"), KeyAttribute("calibration-order", "S"))
OPEN_RUNS = Index("OpenRunsIndex", KeyAttribute("SK", "S"), KeyAttribute("open-since", "S"))

LIBERA_METADATA = TableDesign(
    name="libera-metadata",
    partition_key=KeyAttribute("PK", "S"),
    sort_key=KeyAttribute("SK", "S"),
    indexes=(BY_DATE, BY_CALIBRATION, OPEN_RUNS),
    resource="DataFiles",
)

FILE_NAME = Text("file-name", shortest=1, longest=LONGEST_NAME, in_key_alone=True)
RUN_ID = Text("run-id", shortest=RUN_ID_LENGTH, longest=RUN_ID_LENGTH, unit="UUID")

_OF_A_REVISION = (
    FILE_NAME,
    Text("archive-time", longest=LONGEST_TIME, unit="UTC", optional=True),
    Text("ingest-time", longest=LONGEST_TIME, unit="UTC", optional=True),
    Text("algorithm-version", longest=LONGEST_VERSION, optional=True),
    Text("namespace", longest=LONGEST_NAME, optional=True),
    Text("level", longest=LONGEST_WORD, optional=True),
    Text("product", longest=LONGEST_WORD, optional=True),
    Text("checksum", longest=128, unit="hexadecimal digits", optional=True),
    Whole("size", least=0, unit="bytes", optional=True),
    Text("url", longest=LONGEST_TEXT, optional=True),
    Text("dataset-version", longest=LONGEST_NAME, optional=True),  # in OpenLineage
    JsonDocument("metadata", largest=LARGEST_METADATA, optional=True),
    JsonDocument("calibration-versions", largest=LARGEST_METADATA, optional=True),  # if the file is a calibration
    JsonDocument("applicable-dates", largest=LARGEST_METADATA, optional=True),
    Text("registered-at", longest=LONGEST_TIME, unit="UTC", optional=True),
    Text("fingerprint", longest=32, unit="of what it was registered with; empty if it was only named", optional=True),
)

FILE = Entity(
    "FILE",
    LIBERA_METADATA,
    key=("{file-name}", "#"),
    attributes=(
        *_OF_A_REVISION,
        Whole("revision", least=1, optional=True),  # the latest
        JsonDocument("parts", largest=LARGEST_METADATA, optional=True),  # the identifiers of its further items
    ),
)

FILE_REVISION = Entity(
    "FILE_REVISION",
    LIBERA_METADATA,
    key=("{file-name}", "REV#{revision}"),
    attributes=(
        *_OF_A_REVISION,
        Whole("revision", least=1, greatest=MOST_REVISIONS, digits=REVISION_DIGITS),
        Text("generated-by", shortest=RUN_ID_LENGTH, longest=RUN_ID_LENGTH, unit="UUID of a run", optional=True),
        Truth("claimed-ahead", optional=True),  # whether the run counts only if its item lists the revision
        Truth("is-used", optional=True),  # whether a run has ever used it
        Text("invalidated-at", longest=LONGEST_TIME, unit="UTC", optional=True),  # when the next one was registered
        Text("invalidated-by", longest=RUN_ID_LENGTH, unit="UUID of the next one's run", optional=True),
    ),
)

PART = Entity(  # a further item of a file's metadata: sortable, additional, or of a calibration
    "PART",
    LIBERA_METADATA,
    key=("{file-name}", "#{identifier}"),
    indexes={BY_DATE: ("{applicable-date}", "#{identifier}"), BY_CALIBRATION: ("#{identifier}", "{calibration-order}")},
    attributes=(
        FILE_NAME,
        Text("identifier", shortest=1, longest=LONGEST_IDENTIFIER, in_key_alone=True),
        Text("applicable-date", shortest=DATE_LENGTH, longest=DATE_LENGTH, unit="YYYY-MM-DD, UTC", optional=True),
        Text("first-packet-time", longest=LONGEST_TIME, unit="UTC", optional=True),
        Text("last-packet-time", longest=LONGEST_TIME, unit="UTC", optional=True),
        Whole("missing-packet-count", least=0, optional=True),
        Whole("filled-gap-count", least=0, optional=True),
        Text("archive-time", longest=LONGEST_TIME, unit="UTC", optional=True),
        Text("calibration-version", longest=LONGEST_VERSION, optional=True),
        # So that texts are in the order of versions.
        Text("calibration-order", shortest=1, longest=5 * LONGEST_VERSION + LONGEST_NAME_IN_ORDER, optional=True),
        Text("plain-identifier", longest=LONGEST_IDENTIFIER, optional=True),  # of an item written ahead of its file
        Text("data-type", longest=LONGEST_WORD, optional=True),
        Text("data-level", longest=LONGEST_WORD, optional=True),
        Text("data-product", longest=LONGEST_WORD, optional=True),
        Text("data-version", longest=LONGEST_VERSION, optional=True),
        # The file's applicable day before this one, so that a file is listed once in a range of days.
        Text("earlier-date", longest=DATE_LENGTH, optional=True),
        Text("earlier-date-of-type", longest=DATE_LENGTH, optional=True),
        # The most missing packets of any of the file's data, so that whichever item lists it tells of all of them.
        Whole("most-missing", least=0, optional=True),
        Whole("most-missing-of-type", least=0, optional=True),
    ),
    open=True,  # the attributes of additional metadata
)

DAY = Entity(  # how many items a day has
    "DAY",
    LIBERA_METADATA,
    key=("DAYS", "DAY#{day}"),
    attributes=(
        Text("day", shortest=DATE_LENGTH, longest=DATE_LENGTH, unit="YYYY-MM-DD, UTC", in_key_alone=True),
        Whole("items"),
    ),
    open=True,  # the same by level, product and version of the algorithm
)

CALIBRATED = Entity(  # what there are calibrations of
    "CALIBRATED",
    LIBERA_METADATA,
    key=("CALIBRATED", "BY#{identifier}"),
    attributes=(
        Text("identifier", shortest=1, longest=LONGEST_IDENTIFIER, in_key_alone=True),
        Whole("items"),
    ),
)

RUN = Entity(
    "RUN",
    LIBERA_METADATA,
    key=("RUN#{run-id}", "RUN"),
    indexes={OPEN_RUNS: ("RUN", "{open-since}")},
    attributes=(
        RUN_ID,
        Text("algorithm", longest=LONGEST_TEXT),
        Text("version", longest=LONGEST_VERSION, optional=True),
        Text("namespace", longest=LONGEST_NAME, optional=True),  # of the job, in OpenLineage
        Text("producer", longest=LONGEST_TEXT, optional=True),
        Text("state", longest=8),
        Text("started-at", longest=LONGEST_TIME, unit="UTC", optional=True),
        Text("ended-at", longest=LONGEST_TIME, unit="UTC", optional=True),
        Text("configuration-hash", longest=128, unit="hexadecimal digits", optional=True),
        JsonDocument("facets", largest=LARGEST_METADATA // 2, optional=True),  # of OpenLineage, and `manifest`
        JsonDocument("used", largest=LARGEST_LIST),  # references of versions
        JsonDocument("generated", largest=LARGEST_LIST),  # likewise
        JsonDocument("outputs", largest=LARGEST_METADATA // 2),  # names of files that it generates when it completes
        JsonDocument("reports", largest=LARGEST_METADATA // 4),  # the ids of those that brought edges
        Whole("revision", least=1),  # how often it has changed
        Text("recorded-at", longest=LONGEST_TIME, unit="UTC"),
        # Of a run of this service until it ends, so that those whose process was killed are found.
        Text("open-since", shortest=1, longest=LONGEST_TIME, unit="UTC", optional=True),
    ),
)

# From a version to a run that used it. It counts once the run has its report. Reports that come at once, or that broke
# off, have edges of their own, so none replaces those of another one.
USED = Entity(
    "USED",
    LIBERA_METADATA,
    key=("USED#{used}", "RUN#{run-id}#{report}"),
    attributes=(
        Text("used", shortest=1, longest=REFERENCE_LENGTH, unit="reference of a version", in_key_alone=True),
        RUN_ID,
        Text("report", shortest=REPORT_LENGTH, longest=REPORT_LENGTH, unit="hexadecimal digits"),
    ),
)

LATE_RUNS = Entity(  # how many numbers runs have taken, so that they are recorded one by one, see `provenance.cycles`
    "LATE_RUNS",
    LIBERA_METADATA,
    key=("LATE_RUNS", "STATE"),
    attributes=(Whole("number", least=0),),
)

ENDING_RUNS = Entity(  # the lease of the process that ends abandoned runs, see `provenance.abandoned`
    "ENDING_RUNS",
    LIBERA_METADATA,
    key=("ENDING_RUNS", "STATE"),
    attributes=LEASE_ATTRIBUTES,
)

ENTITIES = (FILE, FILE_REVISION, PART, DAY, CALIBRATED, RUN, USED, LATE_RUNS, ENDING_RUNS)
