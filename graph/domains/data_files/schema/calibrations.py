"""Calibrations, by their versions."""

from datetime import datetime
from typing import Annotated, Any

import strawberry
from strawberry.types import Info

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context
from graph.api.scopes import RequiresScope
from graph.api.selected import needs
from graph.api.sizes import Cost
from graph.core.paging import Page
from graph.domains.data_files import model
from graph.domains.data_files.calibrations import Calibrations
from graph.domains.data_files.schema.files import DataFile
from graph.domains.data_files.schema.loading import files
from graph.domains.data_files.schema.values import VersionSelector, rule_of
from graph.domains.data_files.scopes import FILES_READ
from graph.domains.data_files.selection import VersionRule
from graph.store.ordering import PageRequest


@strawberry.type(description="A version of a calibration.")
class Calibration:
    calibrates: str = strawberry.field(description="The level or product, such as `L0`.")
    calibration_version: str = strawberry.field(description="The version of the calibration.")
    archive_time: datetime | None = strawberry.field(description="When its file was archived.")

    @strawberry.field(
        description="Its file.", graphql_type=DataFile, directives=[Cost(weight="2")], metadata=needs("file-name")
    )
    @staticmethod
    async def file(calibration: strawberry.Parent[model.Calibration], info: Info[Context, None]) -> Any:
        return await info.context.loader(files, None).load(calibration.name)


@strawberry.type(description="A page of calibrations.")
class CalibrationConnection(relay.Connection[Calibration]):
    pass


@strawberry.type
class CalibrationQueries:
    @connection_field(
        CalibrationConnection,
        model.CALIBRATIONS,
        model.Calibration,
        description="Calibrations, those of the latest version first; without `product`, product by product.",
        directives=[RequiresScope(scope=FILES_READ)],
    )
    async def calibrations(
        self,
        info: Info[Context, None],
        page: PageRequest,
        product: Annotated[
            str | None, strawberry.argument(description="The level or product that they calibrate, such as `L0`.")
        ] = None,
        version: Annotated[
            VersionSelector, strawberry.argument(description="`LATEST` and `LATEST_MAJOR` need a `product`.")
        ] = VersionSelector(VersionRule.ALL.value),  # noqa: B008
    ) -> Page[model.Calibration]:
        return await info.context.service(Calibrations).page(product, rule_of(version), page)
