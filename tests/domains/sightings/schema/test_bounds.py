"""What no area can be named is refused before any work, wherever a client names one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service import Service, running
from tests.settings import Settings

FILTERED = "query($areas: [String!]) { sightings(filter: {areas: $areas}) { nodes { id } } }"
REPORTED = "mutation($area: String) { reportSighting(input: {category: FIRE, area: $area}) { created } }"
WATCHED = "mutation($area: String!) { watchArea(input: {area: $area}) { watch { watchId } } }"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    store: Path = tmp_path_factory.mktemp("bounds") / "bounds.db"
    with running(Settings(store=f"sqlite:///{store}")) as service:
        yield service


def refusal(service: Service, query: str, variables: dict[str, Any]) -> str:
    (error,) = service.answer(query, variables)["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    message: str = error["message"]
    return message


def test_no_area_has_such_a_name(service: Service) -> None:
    for name in ("x" * 129, "—!—", "<b>town</b>", "x" * 1_000_000, ""):
        assert refusal(service, FILTERED, {"areas": ["Ridgecrest", name]}).startswith("`areas` must")
        for query in (REPORTED, WATCHED):
            assert refusal(service, query, {"area": name}).startswith("`area` must")


def test_a_filter_names_at_most_a_hundred_areas(service: Service) -> None:
    areas = [f"Town {number}" for number in range(101)]
    assert service.ask(FILTERED, {"areas": areas[:100]}) == {"sightings": {"nodes": []}}
    assert refusal(service, FILTERED, {"areas": areas}) == "`areas` takes at most 100 areas."
