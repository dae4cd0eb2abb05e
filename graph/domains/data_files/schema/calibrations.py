"""Calibrations, by their versions."""

from typing import Annotated

import strawberry

from graph.api.connection_field import connection_field
from graph.api.context import Info
from graph.api.fields import field
from graph.api.record_type import record_type
from graph.core.paging import Page
from graph.domains.data_files import model
from graph.domains.data_files.calibrations import Calibrations
from graph.domains.data_files.entities import CALIBRATIONS
from graph.domains.data_files.schema.filters import CalibrationFilter
from graph.domains.data_files.schema.loading import file_of
from graph.domains.data_files.schema.metadata import OF_SORTABLE
from graph.domains.data_files.schema.values import rule_of
from graph.domains.data_files.scopes import FILES_READ
from graph.store.ordering import PageRequest


@record_type(model.Calibration, pages="calibrations", hidden=OF_SORTABLE)
class Calibration:
    calibration_version: str

    @field("Its file.", cost=2, reads=["file-name"])
    @staticmethod
    async def file(calibration: strawberry.Parent[model.Calibration], info: Info) -> model.DataFile:
        return await file_of(info, calibration.name)


class CalibrationQueries:
    @connection_field(
        "Calibrations, those of the latest version first; without `calibrates`, one level or product after the other.",
        CALIBRATIONS,
        scope=FILES_READ,
    )
    async def calibrations(
        self,
        info: Info,
        page: PageRequest,
        filter: Annotated[CalibrationFilter | None, "Which calibrations; by default all."] = None,
    ) -> Page[model.Calibration]:
        wanted = filter or CalibrationFilter()
        return await info.context.service(Calibrations).page(wanted.calibrates, rule_of(wanted.version), page)
