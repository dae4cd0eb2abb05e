"""GraphQL over HTTP as the audits of the npm package `graphql-http` have it, every one of them."""

from functools import cache

import pytest

from scripts.graphql_http_audits import Audit, audits
from tests.service import Service

pytestmark = pytest.mark.needs("npm", "node")

NUMBER = 61


@cache
def audited(url: str) -> list[Audit]:
    return audits(url)


def test_the_number_of_audits_is_unchanged(week: Service) -> None:
    found = audited(f"{week.url}/graphql")

    assert len(found) == len({audit.id for audit in found}) == NUMBER
    assert {audit.name.split()[0] for audit in found} == {"MUST", "SHOULD", "MAY"}


@pytest.mark.parametrize("number", range(NUMBER))
def test_each_audit_is_passed_without_a_warning(week: Service, number: int) -> None:
    audit = audited(f"{week.url}/graphql")[number]

    assert (audit.id, audit.status, audit.reason) == (audit.id, "ok", None)
