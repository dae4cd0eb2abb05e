"""What a test needs to hold a document to the service: a page's block, and a table as any client sees it."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graph.store.design import TableDesign, table_name
from graph.store.location import ENVIRONMENT
from tests.documents.markdown import Document
from tests.other_programs import client, table_named

_NAME = re.compile(r"(?<![:\w])(?!AND\b|BETWEEN\b|begins_with\b)[A-Za-z_][\w-]*")


def block(page: Document, language: str, test: str) -> str:
    """The block of a language that names this file of tests."""
    (text,) = [
        each.text
        for each in page.blocks
        if each.language == language and each.test and Path(each.test).name == Path(test).name
    ]
    return text


class RawTable:
    """A table as it is in DynamoDB, by a client that knows nothing of the service."""

    def __init__(self, design: TableDesign, prefix: str) -> None:
        self.name = table_name(design, prefix=prefix, environment=ENVIRONMENT)

    def query(
        self, condition: str, /, index: str | None = None, *, forward: bool = True, **values: str | float
    ) -> list[dict[str, Any]]:
        """The items of a query in the documents' own words, such as `PK = :file AND SK = :item`."""
        names: dict[str, str] = {}
        written = _NAME.sub(lambda found: names.setdefault(found[0], f"#n{len(names)}"), condition)
        answer = client().query(
            TableName=self.name,
            KeyConditionExpression=written,
            ExpressionAttributeNames={short: name for name, short in names.items()},
            ExpressionAttributeValues={
                f":{name}": {"S": value} if isinstance(value, str) else {"N": str(value)}
                for name, value in values.items()
            },
            ScanIndexForward=forward,
            **({"IndexName": index} if index else {}),
        )
        return [{name: _value(**typed) for name, typed in item.items()} for item in answer["Items"]]

    def put(self, *items: Mapping[str, Any]) -> None:
        """Write items, as any program does."""
        for item in items:
            table_named(self.name).put_item(Item=dict(item))

    def delete(self, name: str, sort_key: str) -> None:
        """Remove an item."""
        table_named(self.name).delete_item(Key={"PK": name, "SK": sort_key})

    def keys(self) -> Mapping[str, list[str]]:
        """The names of the key attributes, of the table under its empty name and of each index, with their types."""
        described = client().describe_table(TableName=self.name)["Table"]
        types = {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}
        every = [{"IndexName": "", **described}, *described["GlobalSecondaryIndexes"]]
        assert all(each["Projection"] == {"ProjectionType": "ALL"} for each in every[1:])
        return {
            each["IndexName"]: [f"{key['AttributeName']} {types[key['AttributeName']]}" for key in each["KeySchema"]]
            for each in every
        }


def _value(
    *,
    S: str | None = None,  # noqa: N803 - DynamoDB's
    N: str | None = None,  # noqa: N803
    L: Iterable[Any] = (),  # noqa: N803
    M: Mapping[str, Any] | None = None,  # noqa: N803
    **others: Any,
) -> Any:
    """A text, a number, a map, a list, or another value as it is."""
    if N is not None:
        return json.loads(N)
    if M is not None:
        return {name: _value(**each) for name, each in M.items()}
    return [_value(**each) for each in L] or others if S is None else S
