"""Each domain's adoptions: DynamoDB takes their conditions, and their states are kept wherever the domain is on."""

from contextlib import aclosing

import pytest

from graph.domain import Domain, entities_of
from graph.domains import DOMAINS
from graph.feed.adoption import Adoption
from tests.domains.entities import ENTITIES
from tests.store.engines import empty_database

ADOPTIONS = [adoption for domain in DOMAINS for adoption in domain.adoptions]


@pytest.mark.usefixtures("dynamodb_endpoint")
@pytest.mark.parametrize("adoption", ADOPTIONS, ids=lambda adoption: adoption.entity.name)
async def test_dynamodb_finds_what_is_foreign(adoption: Adoption) -> None:
    conditions = {adoption.entity: adoption.foreign}
    async with empty_database("dynamodb", ENTITIES) as database:
        assert database.other_writers
        async with aclosing(database.other_writers.stored(conditions, None)) as findings:
            assert [found.keys async for found in findings] == [[]]


@pytest.mark.parametrize("domain", [domain for domain in DOMAINS if domain.adoptions], ids=lambda domain: domain.name)
def test_a_domain_has_what_its_adoptions_read_and_write(domain: Domain) -> None:
    served = [each for each in DOMAINS if each.name in (domain.name, *domain.needs)]
    needed = {entity for adoption in domain.adoptions for entity in (adoption.entity, adoption.state)}
    assert needed <= set(entities_of(served))
