"""The further metadata of data files."""

from collections.abc import Mapping, Sequence
from datetime import date

from strawberry.scalars import JSON

from graph.api.context import Context
from graph.api.fields import shows
from graph.api.record_type import record_type
from graph.domains.data_files.model import MetadataPart
from graph.domains.data_files.reading import DataFiles

ATTRIBUTES = MetadataPart.declarations().keys()
_OF_CALIBRATIONS = {"calibrates", "archive_time", "calibration_version"}
OF_SORTABLE = ATTRIBUTES - _OF_CALIBRATIONS


@record_type(
    MetadataPart, "What the data of a file are, for one of the days that they apply to.", hidden=_OF_CALIBRATIONS
)
class SortableMetadata:
    identifier: str = shows("Its key in the file's metadata, such as `L0#APID11`.")
    applicable_date: date


@record_type(MetadataPart, "An item of a file's further metadata.", hidden=ATTRIBUTES)
class AdditionalMetadata:
    identifier: str = shows("Its key, such as `PDS` or `APID11`; a repeated one has an ordinal, such as `PDS#0002`.")
    attributes: JSON = shows("Its attributes.")


async def load_parts(context: Context, names: Sequence[str], _: None) -> Mapping[str, list[MetadataPart]]:
    """The further items of these files, by their names; none of a file without such items."""
    found = await context.service(DataFiles).parts(names)
    return {name: [MetadataPart(item) for item in items] for name, items in found.items()}
