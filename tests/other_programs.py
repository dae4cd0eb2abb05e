"""DynamoDB as other programs use it: by boto3, which knows nothing of the service."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import boto3
import botocore.session

from graph.domain import Domain
from graph.domains import DOMAINS
from graph.store.design import TableDesign, table_name
from graph.store.location import ENVIRONMENT
from tests.service import Service, running
from tests.settings import Settings
from tests.store.samples import HeldClock


def client(service: str = "dynamodb") -> Any:
    """botocore's client of a service."""
    return botocore.session.get_session().create_client(service)


def table_of(design: TableDesign, prefix: str) -> Any:
    """boto3's table of a design."""
    return table_named(table_name(design, prefix=prefix, environment=ENVIRONMENT))


def table_named(name: str) -> Any:
    return _resource(os.environ["AWS_ENDPOINT_URL"]).Table(name)


@cache
def _resource(endpoint: str) -> Any:
    """boto3's view of an endpoint. To make one takes longer than to write an item."""
    return boto3.resource("dynamodb", endpoint_url=endpoint)


@dataclass(frozen=True)
class ForeignTable:
    """A table that another program writes, and the service that serves it."""

    prefix: str
    table: Any  # boto3's
    clock: HeldClock

    def put(self, *items: dict[str, Any]) -> None:
        """Write items."""
        for item in items:
            self.table.put_item(Item=item)

    @contextmanager
    def served(self, domains: Sequence[Domain] = DOMAINS, **settings: Any) -> Iterator[Service]:
        """A service with the same tables."""
        of = Settings(store=f"dynamodb://{self.prefix}", deliver=False, **settings)
        with running(of, clock=self.clock, domains=domains) as service:
            yield service
