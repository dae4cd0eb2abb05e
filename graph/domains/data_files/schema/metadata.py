"""The further metadata of data files."""

from collections.abc import Mapping, Sequence
from datetime import date

from strawberry import auto
from strawberry.scalars import JSON

from graph.api.context import Context
from graph.api.fields import shows
from graph.api.record_type import record_type
from graph.domains.data_files.model import MetadataPart
from graph.domains.data_files.reading import DataFiles


@record_type(MetadataPart, "What the data of a file are, for one of the days that they apply to.")
class SortableMetadata:
    identifier: str = shows("Its key in the file's metadata, such as `L0#APID11`.")
    type: auto
    applicable_date: date
    first_packet_time: auto
    last_packet_time: auto
    missing_packet_count: auto
    filled_gap_count: auto


@record_type(MetadataPart, "An item of a file's further metadata.")
class AdditionalMetadata:
    identifier: str = shows("Its key, such as `PDS` or `APID11`; a repeated one has an ordinal, such as `PDS#0002`.")
    attributes: JSON = shows("Its attributes.")


async def load_parts(context: Context, names: Sequence[str], _: None) -> Mapping[str, list[MetadataPart]]:
    """The further items of these files, by their names; none of a file without such items."""
    found = await context.service(DataFiles).parts(names)
    return {name: [MetadataPart(item) for item in items] for name, items in found.items()}
