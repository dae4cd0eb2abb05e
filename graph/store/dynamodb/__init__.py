"""The engine for users who outgrow one machine: Amazon DynamoDB, or a store with its protocol."""

from graph.store.dynamodb.administration import administer
from graph.store.dynamodb.engine import DynamoDatabase, open_dynamodb
from graph.store.dynamodb.retry_policy import RetryPolicy

__all__ = ["DynamoDatabase", "RetryPolicy", "administer", "open_dynamodb"]
