"""GraphQL over HTTP as the audits of the npm package `graphql-http` have it, every one of them."""

import pytest

from scripts.graphql_http_audits import audits
from tests.service import Service

pytestmark = pytest.mark.needs("npm", "node")

NUMBER = 61


def test_all_audits_are_passed_without_a_warning(week: Service) -> None:
    found = audits(f"{week.url}/graphql")

    assert len(found) == len({audit.id for audit in found}) == NUMBER
    assert {audit.name.split()[0] for audit in found} == {"MUST", "SHOULD", "MAY"}
    assert [audit for audit in found if (audit.status, audit.reason) != ("ok", None)] == []
