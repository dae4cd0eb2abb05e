"""The documented table `libera-metadata`: data files with their metadata, and the runs that made them.

A file's partition has the documented items: `#`, the metadata of the file itself, and one item for each further piece
of metadata, `#L0#APID11` or `#CAL#L0`. Beside them is each revision of the file, whole. A run is an item of its own,
and each version that it used has an edge to it.

Two indexes are documented: by applicable date, and by the type of an item, which finds the calibrations. Two are ours:
of the calibrations in the order of their versions, and of our own runs that have not ended.

Other programs write the documented items, with the documented attributes alone. `minimum` and `foreign_parts` say what
these are to readers, and `adopting` stores beside them what our own writers do.
"""

from dataclasses import replace

from graph.domains.data_files.model import (
    LARGEST_METADATA,
    LONGEST_IDENTIFIER,
    LONGEST_VERSION,
    LONGEST_WORD,
    DataFile,
    FileRevision,
    MetadataPart,
    Run,
    Use,
)
from graph.domains.data_files.times import DATE_LENGTH, LONGEST_TIME
from graph.domains.data_files.versions import LONGEST_NAME_IN_ORDER
from graph.feed.adoption import adoption_state
from graph.runtime.lease import LEASE_ATTRIBUTES
from graph.store.attributes import JsonDocument, Text, Truth, Whole
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity
from graph.store.ordering import Ordering

MARK_LENGTH = 16  # of what is behind the identifiers of items that are written ahead of their file
ONLY_NAMED = ""  # the fingerprint of a file that this service has not registered itself: a run or a program names it

BY_DATE = Index("ApplicableDateIndex", KeyAttribute("applicable-date", "S"), KeyAttribute("SK", "S"))
BY_CALIBRATION = Index("CalibrationIndex", KeyAttribute("SK", "S"), KeyAttribute("PK", "S"))
BY_VERSION = Index("CalibrationOrderIndex", KeyAttribute("SK", "S"), KeyAttribute("calibration-order", "S"))
OPEN_RUNS = Index("OpenRunsIndex", KeyAttribute("SK", "S"), KeyAttribute("open-since", "S"))

LIBERA_METADATA = TableDesign(
    name="libera-metadata",
    partition_key=KeyAttribute("PK", "S"),
    sort_key=KeyAttribute("SK", "S"),
    indexes=(BY_DATE, BY_CALIBRATION, BY_VERSION, OPEN_RUNS),
    resource="DataFiles",
)

_OF_A_REVISION = (
    JsonDocument("calibration-versions", largest=LARGEST_METADATA, optional=True),  # if the file is a calibration
    # Items of other programs lack it, until they are adopted.
    Text("fingerprint", longest=32, unit="of what it was registered with; empty if it was only named", optional=True),
    JsonDocument("counted", largest=LARGEST_METADATA, optional=True),  # its registered items, by `counts.counter_of`
)

FILE = Entity(
    "FILE",
    LIBERA_METADATA,
    DataFile,
    key=("{file-name}", "#"),
    attributes=(
        *_OF_A_REVISION,
        JsonDocument("parts", largest=LARGEST_METADATA, optional=True),  # the identifiers of its further items
    ),
)

FILE_REVISION = Entity(
    "FILE_REVISION",
    LIBERA_METADATA,
    FileRevision,
    key=("{file-name}", "REV#{revision}"),
    attributes=(
        *_OF_A_REVISION,
        Truth("claimed-ahead", optional=True),  # whether the run counts only if its item lists the revision
        Truth("is-used", optional=True),  # whether a run has ever used it
    ),
)

PART = Entity(
    "PART",
    LIBERA_METADATA,
    MetadataPart,
    key=("{file-name}", "#{identifier}"),
    indexes={
        BY_DATE: ("{applicable-date}", "#{identifier}"),
        BY_CALIBRATION: ("#{identifier}", "{file-name}"),
        BY_VERSION: ("#{identifier}", "{calibration-order}"),
    },
    attributes=(
        # So that texts are in the order of versions.
        Text("calibration-order", shortest=1, longest=5 * LONGEST_VERSION + LONGEST_NAME_IN_ORDER, optional=True),
        Text("plain-identifier", longest=LONGEST_IDENTIFIER, optional=True),  # of an item written ahead of its file
        # All sortable items of our own have a level. Those of other programs lack it, until they are adopted.
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

COUNTED = Entity(  # what adoption has counted of a file, beyond what its registration has
    "COUNTED",
    LIBERA_METADATA,
    key=("{file-name}", "COUNTED"),
    attributes=(FILE.named["file-name"], Whole("number", least=1)),  # how often it has changed
    open=True,  # a number for each counter; below 0 for what is no longer there
)

RUN = Entity(
    "RUN",
    LIBERA_METADATA,
    Run,
    key=("RUN#{run-id}", "RUN"),
    indexes={OPEN_RUNS: ("RUN", "{open-since}")},
    attributes=(
        JsonDocument("outputs", largest=LARGEST_METADATA // 2),  # names of files that it generates when it completes
        JsonDocument("reports", largest=LARGEST_METADATA // 4),  # the ids of those that brought edges
        Whole("revision", least=1),  # how often it has changed
        # Of a run of this service until it ends, so that those whose process was killed are found.
        Text("open-since", shortest=1, longest=LONGEST_TIME, unit="UTC", optional=True),
    ),
)

# An edge counts once the run has its report. Reports that come at once, or that broke off, have edges of their own, so
# none replaces those of another one.
USED = Entity("USED", LIBERA_METADATA, Use, key=("USED#{used}", "RUN#{run-id}#{report}"))

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

ADOPTION = replace(adoption_state(LIBERA_METADATA), key=("ADOPTION", "TABLE#{adopts}"))  # no item of a file

ENTITIES = (FILE, FILE_REVISION, PART, DAY, CALIBRATED, COUNTED, RUN, USED, LATE_RUNS, ENDING_RUNS, ADOPTION)

BY_APPLICABLE_DATE = Ordering("datafiles", PART, BY_DATE, descending=True)
REVISIONS = Ordering("datafilerevisions", FILE_REVISION, LIBERA_METADATA.primary, descending=True)
CALIBRATIONS = Ordering("calibrations", PART, BY_VERSION, descending=True)
USES = Ordering("uses", USED, LIBERA_METADATA.primary)
