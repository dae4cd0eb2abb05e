"""Data files in the documented way, on the same store: single calls, one after the other, as boto3 makes them.

A list queries the index by date, with a filter, and gets each file. The latest versions are chosen from the whole day.
Lineage walks edge by edge: a get of each version, a get of its run, a query of what used it. Answers are plain JSON.
"""

import os
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graph.domain import entities_of
from graph.domains import DOMAINS
from graph.domains.data_files.entities import BY_DATE, BY_VERSION, FILE, FILE_REVISION, PART, RUN, USED
from graph.domains.data_files.model import CALIBRATION
from graph.domains.data_files.references import Version
from graph.domains.data_files.versions import order_of
from graph.store.conditions import Compare, all_of
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query
from graph.store.sqlite import open_sqlite

EQUAL = {"level": "data-level", "product": "data-product", "type": "data-type", "version": "data-version"}


class Files:
    """Single calls to the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_date(self, parameters: dict[str, str]) -> list[Item]:
        """The first files of a day."""
        first, latest = int(parameters["first"]), parameters.get("version") == "LATEST"
        equal = [
            Compare(attribute, "=", parameters[name])
            for name, attribute in EQUAL.items()
            if name in parameters and not (latest and name == "version")
        ]
        more = Compare("missing-packet-count", ">", int(parameters["gt"])) if "gt" in parameters else None
        page = await self._database.query(
            Query(
                entity=PART,
                index=BY_DATE,
                partitions=[(parameters["date"],)],
                forward=False,
                where=all_of(*equal, more),
                limit=None if latest else first,
            )
        )
        parts = _latest(page.items) if latest else page.items
        return [await self._get(FILE, part["file-name"]) for part in parts[:first]]

    async def file(self, parameters: dict[str, str]) -> list[Item]:
        """A file with all of its items."""
        name = parameters["name"]
        page = await self._database.query(Query(entity=PART, partitions=[(name,)]))
        return [await self._get(FILE, name), *page.items]

    async def calibrations(self, parameters: dict[str, str]) -> list[Item]:
        """The calibrations of a product with their files, the latest first."""
        identifier, first = CALIBRATION + parameters["product"], int(parameters["first"])
        index = Query(entity=PART, index=BY_VERSION, partitions=[(identifier,)], forward=False, limit=first)
        return [await self._get(FILE, part["file-name"]) for part in (await self._database.query(index)).items]

    async def lineage(self, parameters: dict[str, str]) -> list[Item]:
        """What a file was made from, what was made from it, or both, the nearest first."""
        start, depth, most = f"{parameters['name']}@1", int(parameters["depth"]), int(parameters["most"])
        found = {start: await self._revision(start)}
        for direction, step in (("UPSTREAM", self._sources), ("DOWNSTREAM", self._products)):
            if parameters["direction"] in (direction, "BOTH"):
                found |= await self._walk(start, depth, most, step)
        return list(found.values())

    async def _walk(
        self, start: str, depth: int, most: int, step: Callable[[str], AsyncIterator[str]]
    ) -> dict[str, Item]:
        found: dict[str, Item] = {}
        behind = [start]
        for _ in range(depth):
            nearest: list[str] = []
            for reference in behind:
                async for each in step(reference):
                    if len(found) == most:
                        return found
                    if each not in found and each != start:
                        found[each] = await self._revision(each)
                        nearest.append(each)
            behind = nearest
        return found

    async def affected(self, parameters: dict[str, str]) -> list[str]:
        """All that was made from a file, each behind what it was made from."""
        ordered: list[str] = []
        seen: set[str] = set()
        stack: list[tuple[str, AsyncIterator[str]]] = []

        def visit(reference: str) -> None:
            seen.add(reference)
            stack.append((reference, self._products(reference)))

        visit(f"{parameters['name']}@1")
        while stack:  # depth first, without recursion, which Python limits
            reference, products = stack[-1]
            async for each in products:
                if each not in seen:
                    visit(each)
                    break
            else:
                ordered.append(reference)
                await self._revision(reference)
                stack.pop()
        return ordered[-2::-1]

    async def _sources(self, reference: str) -> AsyncIterator[str]:
        run_id = (await self._revision(reference)).get("generated-by")
        for each in (await self._get(RUN, run_id))["used"] if run_id else ():
            yield each

    async def _products(self, reference: str) -> AsyncIterator[str]:
        edges = await self._database.query(Query(entity=USED, partitions=[(reference,)]))
        for edge in edges.items:
            for each in (await self._get(RUN, edge["run-id"]))["generated"]:
                yield each

    async def _revision(self, reference: str) -> Item:
        version = Version.of(reference)
        assert version is not None
        return await self._get(FILE_REVISION, *version)

    async def _get(self, entity: Any, *values: Any) -> Item:
        return await self._database.get(entity.key_for(*values)) or {}


def _latest(parts: Collection[Item]) -> list[Item]:
    """The parts with the latest version of their level and product."""
    latest: dict[tuple[str, str], str] = {}
    for part in parts:
        series = part["data-level"], part.get("data-product", "")
        latest[series] = max(latest.get(series, ""), order_of(part.get("data-version", "")))
    return [
        part
        for part in parts
        if latest[part["data-level"], part.get("data-product", "")] == order_of(part.get("data-version", ""))
    ]


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Open the store for the life of the process."""
    async with open_sqlite(os.environ["FILES_DB"], entities_of(DOMAINS)) as database:
        app.state.files = Files(database)
        yield


def route(answer: Callable[[Files, dict[str, str]], Coroutine[Any, Any, object]]) -> Route:
    """A route with the name of a method."""

    async def respond(request: Request) -> Response:
        found = await answer(request.app.state.files, dict(request.query_params))
        return Response(orjson.dumps(found), media_type="application/json")

    return Route(f"/{answer.__name__}", respond)


app = Starlette(
    routes=[route(each) for each in (Files.by_date, Files.file, Files.calibrations, Files.lineage, Files.affected)],
    lifespan=lifespan,
)
