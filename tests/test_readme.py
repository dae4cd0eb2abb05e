"""What the README promises is so: its queries have the printed answers, its tables have everything."""

import asyncio
import json
import re
from pathlib import Path

from graph.cli import main
from graph.core import errors
from graph.domains import DOMAINS
from graph.domains.earthquakes.demo import load_sample
from graph.opening import open_services
from tests.service import running
from tests.settings import Settings

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_table_of_settings_says_what_the_settings_say() -> None:
    rows = re.findall(r"^\| `GRAPH_(\w+)` \| (?:`--([\w-]+)`)? ?\| `([^`]*)` \| (.*) \|$", README, re.MULTILINE)

    assert sorted(row[0].lower() for row in rows) == sorted(Settings.model_fields)
    for name, option, default, description in rows:
        field = Settings.model_fields[name.lower()]
        assert description == field.description
        assert default == (
            "none" if field.default in (None, ()) else json.dumps(field.default).strip('"').removesuffix(".0")
        )
        assert bool(option) == (name.lower() in {parameter.name for parameter in main.commands["serve"].params})


def test_every_code_is_explained() -> None:
    explained = set(re.findall(r"`([A-Z_]+)`", README.split("## Errors")[1].split("##")[0]))
    kinds = [errors.GraphError]
    for kind in kinds:
        kinds += kind.__subclasses__()

    codes = {kind.code for kind in kinds if "code" in vars(kind)}
    assert explained == codes | {"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "BAD_REQUEST"}


def test_the_queries_have_the_answers_that_are_printed(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/demo.db")

    async def load() -> None:
        async with open_services(settings, DOMAINS) as services:
            await load_sample(services)

    asyncio.run(load())
    pairs = re.findall(r"```graphql\n(.*?)```\n\n```json\n(.*?)```", README, re.DOTALL)

    assert len(pairs) == 6
    with running(settings) as service:
        for query, answer in pairs:
            assert service.answer(query) == json.loads(answer)
