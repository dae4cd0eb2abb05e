"""The filter of data files."""

from datetime import date

import strawberry

from graph.api.fields import optional, shows
from graph.domains.data_files.schema.values import ALL, VersionSelector, rule_of
from graph.domains.data_files.selection import FileSelection


@strawberry.input(description="A range of numbers.")
class MissingPacketsFilter:
    gt: int = shows("More than so many.")


@strawberry.input(description="The selected files: those that fulfil all given conditions.")
class DataFileFilter:
    start_date: date | None = optional("The first UTC day that the data apply to.")
    end_date: date | None = optional("The last such day, inclusive.")
    levels: list[str] | None = optional("The levels, such as `L0`; at most 100.")
    products: list[str] | None = optional("The products; at most 100.")
    type: str | None = optional("The type of the data, such as `APID11`.")  # alone: a file is listed once for it
    version: VersionSelector = shows(
        "Versions of the algorithm, among the files of the same level, product and day. What counts for a "
        "file of several days is the first of the selected ones.",
        default=ALL,
    )
    missing_packets: MissingPacketsFilter | None = optional(
        "The most missing packets of any of the file's data, or of those of `type`."
    )

    @property
    def selection(self) -> FileSelection:
        """The selection of files."""
        return FileSelection(
            first=self.start_date,
            last=self.end_date,
            levels=None if self.levels is None else tuple(self.levels),
            products=None if self.products is None else tuple(self.products),
            data_type=self.type,
            version=rule_of(self.version),
            missing_packets_gt=self.missing_packets.gt if self.missing_packets else None,
        )


@strawberry.input(description="The selected calibrations: those that fulfil all given conditions.")
class CalibrationFilter:
    calibrates: str | None = optional("The level or product that they calibrate, such as `L0`.")
    version: VersionSelector = shows("`LATEST` and `LATEST_MAJOR` need `calibrates`.", default=ALL)
