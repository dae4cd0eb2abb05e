"""The engine for those who outgrow one machine: Amazon DynamoDB, or what speaks its protocol."""

from graph.store.dynamodb.administration import create_table
from graph.store.dynamodb.engine import DynamoTable, open_dynamodb
from graph.store.dynamodb.patience import Patience

__all__ = ["DynamoTable", "Patience", "create_table", "open_dynamodb"]
