"""GDAL, by which QGIS reads, GeoPandas and MapLibre read exports as docs/clients/maps.md says."""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyogrio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from graph.pages import packages
from tests.acceptance.browser import Visit
from tests.acceptance.clients.documented.programs import at, blocks, lines, run, with_output
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.left_open import lasting
from tests.service import Service, running, serving, settings

PAGE = "docs/clients/maps.md"
RENDERED = "map.queryRenderedFeatures({ layers: ['earthquakes'] })"
FILES = {Path(file.origin).name: file.path for file in packages.FILES}  # by their names in the npm packages


def source(service: Service) -> str:
    """What the program for QGIS opens."""
    (program,) = blocks(PAGE, "QGIS", "python")
    found = re.search(r'source = "(.*)"', program)
    assert found
    return at(service.url, found[1])


def opened(address: str) -> dict[str, Any]:
    """What GDAL says of a layer."""
    with lasting():  # GDAL keeps its connections
        layer: dict[str, Any] = pyogrio.read_info(address, force_feature_count=True)
        return layer


def test_gdal_opens_the_layer_of_qgis(week: Service) -> None:
    layer = opened(source(week))

    assert (layer["driver"], layer["features"], layer["crs"]) == ("GeoJSON", 81, "EPSG:4979")
    assert layer["geometry_type"] == "Point Z"
    types = dict(zip(layer["fields"], layer["dtypes"], strict=True))
    assert (types["mag"], types["time"]) == ("float64", "int64")


def test_gdal_opens_fdsn_by_the_same_prefix(week: Service) -> None:
    address = f"/vsicurl_streaming/{week.url}/fdsnws/event/1/query?minmagnitude=4.5&format=geojson"

    assert opened(address)["features"] == 81


def test_gdal_does_not_open_it_by_the_prefix_that_needs_a_length(week: Service) -> None:
    with pytest.raises(pyogrio.errors.DataSourceError):
        opened(source(week).replace("vsicurl_streaming", "vsicurl"))


def test_geopandas_prints_what_is_below_its_program(tmp_path: Path, week: Service) -> None:
    ((program, output),) = with_output(PAGE, "python")

    assert lines(run(sys.executable, "-c", at(week.url, program), folder=tmp_path).stdout) == lines(output)


@pytest.fixture
def maps() -> Iterator[tuple[Starlette, str]]:
    """A page of another origin, and that origin. Its service is in the application's state."""

    async def page(request: Request) -> HTMLResponse:
        (text,) = blocks(PAGE, "MapLibre", "html")
        return HTMLResponse(at(request.app.state.service, text))

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        return FileResponse(FILES[name]) if name in FILES else Response(status_code=204)  # also for the icon

    app = Starlette(routes=[Route("/", page), Route("/{name}", file)])
    with serving(app) as origin:
        yield app, origin


@pytest.mark.needs("chromium", "the web pages' packages")
async def test_maplibre_draws_the_export_on_a_page_of_an_allowed_origin(
    webgl_visit: Visit, maps: tuple[Starlette, str], tmp_path: Path, week_file: Path, usgs: UsgsServer
) -> None:
    app, origin = maps
    shutil.copy(week_file, tmp_path / "week.db")
    with running(settings(tmp_path / "week.db", usgs, cors_origins=(origin,))) as service:
        app.state.service = service.url
        await webgl_visit.page.goto(origin)

        await webgl_visit.page.wait_for_function(f"{RENDERED}.length === 81")
        assert await webgl_visit.page.evaluate(f"{RENDERED}.every(({{ id }}) => id === 0)")

    assert [complaint for complaint in webgl_visit.complaints if "WebGL" not in complaint] == []  # it says how it draws
