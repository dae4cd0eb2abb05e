"""Calibrations by what they calibrate, in the order of their versions."""

from graph.core.errors import BadUserInput
from graph.core.paging import Page
from graph.domains.data_files.entities import BY_CALIBRATION, CALIBRATED, CALIBRATIONS, PART
from graph.domains.data_files.model import CALIBRATION, Calibration
from graph.domains.data_files.selection import VersionRule
from graph.domains.data_files.versions import END_OF_ORDER, major_of
from graph.store.client_input import possible_key
from graph.store.conditions import Compare
from graph.store.contract import Database
from graph.store.ordering import PageRequest
from graph.store.query import UNBOUNDED, Bounds, Partition, Query
from graph.store.time_walk import Walk

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
        exact = Compare("calibration-version", "=", version) if isinstance(version, str) else None
        query = Query(
            entity=PART,
            index=BY_CALIBRATION,
            between=UNBOUNDED if exact else await self._bounds(product, version),
            partitions=await self._partitions(product),
            where=exact,
            attributes=request.attributes,
        )
        return await Walk(self._database, query).page(
            request.paging,
            forward=False,
            record_of=CALIBRATIONS.record_class(Calibration).reading(request.attributes),
        )

    async def _partitions(self, product: str | None) -> list[Partition]:
        """What there are calibrations of, in order."""
        if product is not None:
            return [(CALIBRATION + product,)] if possible_key(CALIBRATED, CALIBRATION + product) else []
        page = await self._database.query(Query(entity=CALIBRATED, where=Compare("items", ">", 0)))
        return [(item["identifier"],) for item in page.items]

    async def _bounds(self, product: str | None, version: VersionRule | str) -> Bounds:
        """The part of the index that has the versions of a rule."""
        if version is VersionRule.ALL:
            return UNBOUNDED
        if product is None:
            raise BadUserInput("Name the `product` whose latest calibrations you want.")
        last = Query(
            entity=PART,
            index=BY_CALIBRATION,
            partitions=await self._partitions(product),
            forward=False,
            limit=1,
            attributes=frozenset({"calibration-version", "calibration-order"}),
        )
        found = (await self._database.query(last)).items if last.partitions else []
        if not found:
            return UNBOUNDED
        if version is VersionRule.LATEST_MAJOR:
            beginning = major_of(found[0]["calibration-version"])
        else:
            beginning, end, _ = found[0]["calibration-order"].partition(END_OF_ORDER)  # as it was stored
            beginning += end
        return beginning, beginning + LAST
