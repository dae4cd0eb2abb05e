"""The third-party files of the web pages, as a browser and any other client gets them."""

from collections.abc import Iterator

import brotli
import httpx
import pytest
from starlette.applications import Starlette

from graph.pages import packages
from tests.processes import TIMEOUT_S
from tests.service import serving

MAP = next(file for file in packages.FILES if file.path.suffix == ".json")
BROWSER = "gzip, deflate, br, zstd"

pytestmark = pytest.mark.needs("the web pages' packages")


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    """A client of a service that has the dashboard's files alone."""
    with serving(Starlette(routes=packages.routes("dashboard"))) as url, httpx.Client(timeout=TIMEOUT_S) as client:
        client.base_url = httpx.URL(url)
        yield client


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        (BROWSER, "br"),
        ("BR;q=0.1", "br"),
        ("gzip, br;q=0", None),
        ("br;q=much", None),
        ("gzip", None),
        ("identity", None),
        ("", None),
    ],
)
def test_a_file_comes_in_a_form_that_the_client_reads(client: httpx.Client, accepted: str, coding: str | None) -> None:
    with client.stream("GET", f"/{MAP.url(from_package=True)}", headers={"Accept-Encoding": accepted}) as answer:
        sent = b"".join(answer.iter_raw())

    assert answer.headers.get("content-encoding") == coding
    assert (brotli.decompress(sent) if coding else sent) == MAP.path.read_bytes()
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_only_the_files_of_the_web_page_are_served(client: httpx.Client) -> None:
    of_others = (packages.files_of("graphiql")[0].name, "README.md", f"{MAP.name}.br", "..%2fpackages.toml", "")
    for path in (*(f"dashboard/{name}" for name in of_others), f"graphiql/{MAP.name}"):
        assert client.get(f"/packages/{path}").status_code == 404, path
