"""Parses DynamoDB's answers by orjson.

botocore walks through the shape of an answer, with a method call for each attribute and each value: 6 ms
for a page of 100 events, where orjson takes 0.2 ms. For items, the shape adds nothing to the JSON:
all values are text, numbers, truth values, lists and maps. The one difference is that binary values
stay in base64.

Source: "DynamoDB low-level API" of the Developer Guide. The parser is registered as the component
`response_parser_factory` of a session, like botocore's own.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from aiobotocore.parsers import AioJSONParser, AioResponseParserFactory
from aiobotocore.session import AioSession, get_session
from botocore.model import StructureShape

PLAIN = frozenset(
    f"{operation}Output"
    for operation in (
        *("GetItem", "BatchGetItem", "Query", "Scan"),
        *("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"),
        "GetRecords",
    )
)
"""The shapes of answers that equal their JSON. Only a stream record's time of creation stays epoch seconds.

Answers about tables are not among them, since they hold times.
"""


class PlainParser(AioJSONParser):
    """Parses successful answers about items by orjson, and all others like botocore."""

    def _do_parse(self, response: Mapping[str, Any], shape: StructureShape | None) -> Any:
        if shape is None or shape.name not in PLAIN:
            return super()._do_parse(response, shape)  # type: ignore[misc]  # the stubs leave these out
        parsed = orjson.loads(response["body"])
        self._inject_response_metadata(parsed, response["headers"])  # type: ignore[attr-defined]
        return parsed


class PlainParsers(AioResponseParserFactory):
    """Makes parsers of DynamoDB's protocol."""

    def create_parser(self, protocol_name: str) -> PlainParser:
        """Make a parser. The session's defaults do not concern items."""
        return PlainParser(**self._defaults)  # type: ignore[attr-defined]


def parsing_session() -> AioSession:
    """A botocore session whose clients use this parser."""
    session = get_session()
    session.register_component("response_parser_factory", PlainParsers())
    return session
