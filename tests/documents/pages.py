"""A page of `docs/` that a test follows: `PAGE = Page.followed_by(__file__, "docs/sightings.md")`.

The blocks that the test executes name its file, so that the tests of all documents leave them to it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from tests.bearers import bearer
from tests.documents.markdown import ROOT, Document
from tests.schemas import schema
from tests.settings import Settings
from tests.subscribers import LiveService, event_stream, live_service


@dataclass(frozen=True)
class Page(Document):
    """A page, and the file of the test that follows it."""

    test: str

    @classmethod
    def followed_by(cls, test: str, page: str) -> Self:
        """The page with this path in the project."""
        return cls(ROOT / page, str(Path(test).relative_to(ROOT)))

    def shown(self, language: str, text: str = "") -> str:
        """The one block of a language that the test executes and that has this text."""
        of = [each for each in self.blocks if (each.language, each.test) == (language, self.test)]
        (found,) = [each.text for each in of if text in each.text]
        return found

    def answer_below(self, operation: str) -> dict[str, Any] | None:
        """The data of the answer that the page shows below an operation; None where it shows none."""
        below = {block.text: below for block, below in pairwise(self.blocks) if below.language == "json"}
        return json.loads(below[operation].text)["data"] if operation in below else None

    async def first_notice(self, settings: Settings, store: Callable[[LiveService], object]) -> Any:
        """What the page's subscription sends first, once something is stored."""
        with live_service(settings) as service:
            async with event_stream(service.url, self.shown("graphql", "subscription"), headers=bearer()) as stream:
                assert await stream.block() == b":"  # which says that the stream has begun
                store(service)
                (notice,) = (await stream.next_data()).values()
        return notice


def sent(service: LiveService, operation: str, variables: Mapping[str, Any] | None = None) -> Any:
    """The data of the answer to an operation, which has no errors."""
    answer = service.http.post("/graphql", json={"query": operation, "variables": variables}).json()
    assert answer.keys() == {"data"}, answer
    return answer["data"]


def fields_of(name: str) -> set[str]:
    """The fields of a type or an input of the schema."""
    of: Any = schema.type_map[name]
    return set(of.fields)
