"""Generated operations against the real service: none makes it fail.

schemathesis reads the schema and sends what fits it, valid or odd. Its seed is
fixed, so that a run finds what any other finds.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from graphql import parse_value
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.graphql import nodes

from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.effort import THOROUGH
from tests.service import running
from tests.service import settings as service_settings

EXAMPLES = 200 if THOROUGH else 8  # an operation
JSON = ['{a: 1, b: [true, null, "x"]}', "{}", "{a: {b: 1.5e300}}", "[1]", '"x"', "1e400", '{_: ""}']
CHECKED_IN = Path(__file__).parents[3] / "schema.graphql"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, week_file: Path, _usgs: UsgsServer) -> Iterator[str]:
    """Where a service is that has the real week in it and may be written to."""
    store = tmp_path_factory.mktemp("fuzzed") / "week.db"
    store.write_bytes(week_file.read_bytes())
    with running(service_settings(store, _usgs)) as service:
        yield f"{service.url}/graphql"


# Of years that the calendar has; the week's among them.
schemathesis.graphql.scalar("EpochMillis", st.integers(-(2**53), 2**53).map(nodes.Int))
schemathesis.graphql.scalar("JSON", st.sampled_from(JSON).map(parse_value))
categories = st.sampled_from([nodes.Enum("SHAKING"), nodes.String("OTHER"), nodes.Enum("FLOOD"), nodes.String("")])
schemathesis.graphql.scalar("SightingCategory", categories)
versions = ["ALL", "LATEST", "LATEST_MAJOR", "1.0.0", "1.0.0rc1", "", "1.0\u00e9"]
schemathesis.graphql.scalar("VersionSelector", st.sampled_from(versions).map(nodes.String))
schemathesis.graphql.scalar("ByteCount", st.integers(-1, 2**53).map(nodes.Int))
schema = schemathesis.graphql.from_path(CHECKED_IN)


@pytest.mark.repeated
@schema.parametrize()
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_operation_makes_the_service_fail(case: Case[Any], url: str) -> None:
    case.call_and_validate(base_url=url, headers=bearer(), checks=[not_a_server_error])
