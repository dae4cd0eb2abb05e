"""What no answer may show of the inside of the service, whatever was asked."""

import re
from pathlib import Path

import httpx

INSIDE = re.compile(
    "|".join(
        [
            r"Traceback|File \"|\.py\b|site-packages|\bline \d+, in\b",
            r"\w+Error\b(?!s?:? )|Exception|KeyError|ValueError|TypeError|RecursionError",
            r"SELECT |INSERT |sqlite|no such table|database is|earthquake-events|\.db\b",
            r"arn:aws|botocore|boto3|aiohttp|DynamoDB|dynamodb|ResourceNotFound|TimeOrderedIndex|gsi1pk",
            r"graph\.\w+|strawberry|graphql-core|starlette|uvicorn|httpx|asyncio|orjson",
            r"EVENT#|LOG#|SUMMARY#|DAY#",
            re.escape(str(Path.cwd())),
            r"/(tmp|home|root|usr|var)/",
        ]
    )
)


def leaks(answer: httpx.Response) -> list[str]:
    """What an answer's body and headers show that they should not."""
    headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
    return [match[0] for match in INSIDE.finditer(f"{headers}\n{answer.text}")]


def checked(answer: httpx.Response) -> httpx.Response:
    """The answer of a service that was attacked: coded, of a bounded size, without leaks, and no failure."""
    assert answer.status_code < 500, answer.text[:500]
    assert leaks(answer) == []
    assert len(answer.content) < 20_000
    if answer.headers["Content-Type"].startswith("application/"):
        for error in answer.json().get("errors", []):
            assert error["extensions"]["code"] != "INTERNAL_SERVER_ERROR"
            assert error["extensions"]["code"].isupper()
    return answer
