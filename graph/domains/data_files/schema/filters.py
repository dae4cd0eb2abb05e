"""The filter of data files."""

from datetime import date

import strawberry

from graph.api.fields import optional, shows
from graph.core.errors import BadUserInput
from graph.domains.data_files.schema.values import ALL, VersionSelector, rule_of
from graph.domains.data_files.selection import FileSelection


@strawberry.input(description="A range of numbers.")
class MissingPacketsFilter:
    gt: int = shows("More than so many.")


@strawberry.input(description="The selected files: those that fulfil all given conditions.")
class DataFileFilter:
    on: date | None = optional("The UTC day that the data apply to.", name="date")
    first: date | None = optional("The first of such days.", name="from")
    last: date | None = optional("The last of such days, inclusive.", name="to")
    level: str | None = optional("The level, such as `L0`.")
    product: str | None = optional("The product.")
    type: str | None = optional("The type of the data, such as `APID11`.")
    version: VersionSelector = shows(
        "Versions of the algorithm, among the files of the same level, product and day. What counts for a "
        "file of several days is the first of the selected ones.",
        default=ALL,
    )
    missing_packets: MissingPacketsFilter | None = optional(
        "The most missing packets of any of the file's data, or of those of `type`."
    )

    def selection(self) -> FileSelection:
        """The selection of files.

        Raises:
            BadUserInput: The days contradict each other.
        """
        if self.on and (self.first or self.last):
            raise BadUserInput("Give either `date`, or `from` and `to`.")
        if self.first and self.last and self.first > self.last:
            raise BadUserInput("`from` must not be after `to`.")
        return FileSelection(
            first=self.on or self.first,
            last=self.on or self.last,
            level=self.level,
            product=self.product,
            data_type=self.type,
            version=rule_of(self.version),
            missing_packets_gt=self.missing_packets.gt if self.missing_packets else None,
        )
