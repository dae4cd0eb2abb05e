"""Calibrations by what they calibrate, in the order of their versions.

An index has those of our own in order. Those that other programs have written are found by the documented index, and
come in between. Once they are adopted, they are in our index, too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from graph.core.errors import BadUserInput
from graph.core.paging import Page
from graph.domains.data_files.entities import BY_CALIBRATION, BY_VERSION, CALIBRATED, CALIBRATIONS, PART
from graph.domains.data_files.foreign_parts import FOREIGN_CALIBRATION, calibration_order
from graph.domains.data_files.model import CALIBRATION, LEVELS, Calibration
from graph.domains.data_files.selection import VersionRule
from graph.domains.data_files.versions import END_OF_ORDER, major_of
from graph.store.between import Between, ItemsFound, Place, page_between
from graph.store.client_input import possible_key
from graph.store.conditions import Compare
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from graph.store.query import UNBOUNDED, Bounds, Partition, Query
from graph.store.time_walk import Walk
from graph.work.account import charge_rows

LAST = "\U0010ffff"


class Calibrations:
    """The registered calibrations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, product: str | None, version: VersionRule | str, request: PageRequest) -> Page[Calibration]:
        """A page of calibrations, those of the latest version first.

        Args:
            product: the level or product that they calibrate; None for all, one after the other.
            version: a rule, or an exact version.

        Raises:
            BadUserInput: A rule without a product.
        """
        partitions = await self._partitions(product)
        foreign = await self._foreign(partitions)
        exact = Compare("calibration-version", "=", version) if isinstance(version, str) else None
        between = UNBOUNDED if exact else await self._bounds(product, version, partitions, foreign)
        query = Query(
            entity=PART,
            index=BY_VERSION,
            between=between,
            partitions=partitions,
            where=exact,
            attributes=request.attributes,
        )
        walk = Walk(self._database, query)
        low, high = between
        selected = {
            _place(item): item
            for item in foreign
            if (not exact or item["calibration-version"] == version)
            and (low is None or low <= item["calibration-order"] <= high)
        }

        async def read(size: int, within: Between, *, forward: bool) -> ItemsFound:
            found = await walk.read(size, within, forward=forward)
            every = {_place(item): item for item in found.items}
            every |= {place: item for place, item in selected.items() if within.holds(place)}
            in_order = [every[place] for place in sorted(every, reverse=not forward)]
            return ItemsFound(in_order[:size], found.more or len(in_order) > size, found.partitions)

        return await page_between(
            read if selected else walk.read,
            request.paging,
            forward=False,
            place_of=_place,
            record_of=CALIBRATIONS.record_class(Calibration).reading(request.attributes),
        )

    async def _partitions(self, product: str | None) -> list[Partition]:
        """What there are calibrations of, in order. Other programs may have some of any documented level."""
        if product is not None:
            return [(CALIBRATION + product,)] if possible_key(CALIBRATED, CALIBRATION + product) else []
        page = await self._database.query(Query(entity=CALIBRATED, where=Compare("items", ">", 0)))
        counted = {item["identifier"] for item in page.items}
        documented = {CALIBRATION + level for level in LEVELS} if self._database.other_writers else set()
        return [(identifier,) for identifier in sorted(counted | documented)]

    async def _foreign(self, partitions: Sequence[Partition]) -> list[Item]:
        """Calibrations of other programs, with their places in the order."""
        if not partitions or not self._database.other_writers:
            return []
        query = Query(entity=PART, index=BY_CALIBRATION, partitions=partitions, where=FOREIGN_CALIBRATION)
        page = await self._database.query(query)
        await charge_rows(read=len(page.items))
        return [item | calibration_order(item) for item in page.items]

    async def _bounds(
        self,
        product: str | None,
        version: VersionRule | str,
        partitions: Sequence[Partition],
        foreign: Sequence[Item],
    ) -> Bounds:
        """The part of the order that has the versions of a rule."""
        if version is VersionRule.ALL:
            return UNBOUNDED
        if product is None:
            raise BadUserInput("The latest version needs `calibrates`, a level or a product.")
        last = Query(
            entity=PART,
            index=BY_VERSION,
            partitions=partitions,
            forward=False,
            limit=1,
            attributes=frozenset({"calibration-version", "calibration-order"}),
        )
        own = (await self._database.query(last)).items if partitions else []
        latest = max([*own, *foreign], key=lambda item: item["calibration-order"], default=None)
        if latest is None:
            return UNBOUNDED
        if version is VersionRule.LATEST_MAJOR:
            beginning = major_of(latest["calibration-version"])
        else:
            beginning, end, _ = latest["calibration-order"].partition(END_OF_ORDER)  # as it was stored
            beginning += end
        return beginning, beginning + LAST


def _place(item: Mapping[str, Any]) -> Place:
    return tuple([item[name] for name in PART.position_names(BY_VERSION)])
