"""The bundle, and the modules that stand in it."""

import re

import pytest

from graph.pages import dashboard
from graph.pages.dashboard.sources import BUNDLE, ENTRIES
from graph.pages.dashboard.templates import UNBUNDLED, imported_by
from tests.service import Service


@pytest.mark.needs("the dashboard's bundle")
@pytest.mark.parametrize("name", ENTRIES)
def test_the_bundle_stands_in_place_of_the_entries(week: Service, name: str) -> None:
    path = f"/dashboard/{dashboard.VERSION}/{name}"
    plain, compressed = (week.http.get(path, headers={"Accept-Encoding": coding}) for coding in ("identity", "br"))

    assert plain.content == compressed.content == (BUNDLE / name).read_bytes()
    assert not re.search(rb'@import|(?:from|import) ?"\.', plain.content)
    assert compressed.headers["Content-Encoding"] == "br"
    assert int(compressed.headers["Content-Length"]) == (BUNDLE / f"{name}.br").stat().st_size


def test_each_module_belongs_to_a_page() -> None:
    dashboard_page, event_page = (set(imported_by(name, UNBUNDLED)) for name in ("main.js", "event/event_page.js"))

    assert "event/event_page.js" in event_page - dashboard_page
    assert "graph.js" in event_page & dashboard_page
    assert event_page | dashboard_page == {name for name in UNBUNDLED if name.endswith(".js")}
