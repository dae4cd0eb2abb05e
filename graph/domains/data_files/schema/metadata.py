"""The further metadata of data files."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

import strawberry
from strawberry.scalars import JSON

from graph.api.context import Context
from graph.domains.data_files.model import MetadataPart
from graph.domains.data_files.reading import DataFiles


@strawberry.type(description="What the data of a file are, for one of the days that they apply to.")
class SortableMetadata:
    identifier: str = strawberry.field(description="Its key in the file's metadata, such as `L0#APID11`.")
    type: str | None = strawberry.field(description="The type of the data, such as `APID11`.")
    applicable_date: date = strawberry.field(description="The UTC day.")
    first_packet_time: datetime | None = strawberry.field(description="The time of the first packet.")
    last_packet_time: datetime | None = strawberry.field(description="The time of the last packet.")
    missing_packet_count: int | None = strawberry.field(description="The number of packets that are missing.")
    filled_gap_count: int | None = strawberry.field(description="The number of gaps that were filled.")


@strawberry.type(description="An item of a file's further metadata.")
class AdditionalMetadata:
    identifier: str = strawberry.field(
        description="Its key, such as `PDS` or `APID11`; a repeated one has an ordinal, such as `PDS#0002`."
    )
    attributes: JSON = strawberry.field(description="Its attributes.")


@strawberry.type(description="What a calibration file calibrates.")
class FileCalibration:
    calibrates: str = strawberry.field(description="The level or product, such as `L0`.")
    calibration_version: str = strawberry.field(description="The version of the calibration.")


async def load_parts(context: Context, names: Sequence[str], _: None) -> Mapping[str, list[MetadataPart]]:
    """The further items of these files, by their names; none of a file without such items."""
    found = await context.service(DataFiles).parts(names)
    return {name: [MetadataPart(item) for item in items] for name, items in found.items()}
