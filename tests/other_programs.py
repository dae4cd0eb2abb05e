"""DynamoDB as other programs use it: by boto3, which knows nothing of the service."""

import os
from functools import cache
from typing import Any

import boto3
import botocore.session

from graph.store.design import TableDesign, table_name
from graph.store.location import ENVIRONMENT


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
