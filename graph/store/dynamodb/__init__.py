"""The engine for those who outgrow one machine: Amazon DynamoDB, or what speaks its protocol."""

from graph.store.dynamodb.administration import create_table
from graph.store.dynamodb.engine import DynamoTable, open_dynamodb
from graph.store.dynamodb.retry_policy import RetryPolicy

__all__ = ["DynamoTable", "RetryPolicy", "create_table", "open_dynamodb"]
