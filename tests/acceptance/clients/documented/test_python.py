"""gql, ariadne-codegen, sgqlc, pandas and ObsPy run the programs of docs/clients/python.md."""

import asyncio
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.acceptance.clients.documented.programs import ENVIRONMENT, at, blocks, lines, run, with_output
from tests.children import Child
from tests.documents.markdown import ROOT
from tests.service import Service
from tests.subscribers import LiveService

pytestmark = pytest.mark.judged

PAGE = "docs/clients/python.md"
SCALARS = set(re.findall(r"^scalar (\w+)", (ROOT / "schema.graphql").read_text(), re.MULTILINE))
OTHERS = ("session.subscribe(", "from quakes")  # in the programs that tests of their own run
PROGRAMS = [each for each in with_output(PAGE, "python") if not any(part in each[0] for part in OTHERS)]


@pytest.mark.parametrize(("program", "output"), PROGRAMS, ids=["gql", "gql DSL", "CSV", "Parquet", "graph", "ObsPy"])
def test_the_program_prints_what_is_below_it(
    program: str, output: str, tmp_path: Path, gql: dict[str, str], week: Service
) -> None:
    done = run(sys.executable, "-c", at(week.url, program), folder=tmp_path, settings=gql)

    assert lines(done.stdout) == lines(output)


async def test_gql_follows_events_over_a_websocket(gql: dict[str, str], live: LiveService) -> None:
    *_, program = blocks(PAGE, "gql", "python")
    *_, output = blocks(PAGE, "gql", "text")
    command = [sys.executable, "-c", at(live.url, program)]
    with Child(command, env={**ENVIRONMENT, **gql}, stdout=subprocess.PIPE, text=True) as process:
        await live.has_subscriptions(1)
        live.store("us1", mag=4.5)
        assert process.stdout is not None
        assert await asyncio.to_thread(process.stdout.readline) == output
        process.kill()


def test_ariadne_codegen_knows_every_scalar_and_its_client_runs(
    tmp_path: Path, python_tools: dict[str, str], week: Service
) -> None:
    (configuration,) = blocks(PAGE, "ariadne-codegen", "toml")
    (queries,) = blocks(PAGE, "ariadne-codegen", "graphql")
    (program,) = blocks(PAGE, "ariadne-codegen", "python")
    (output,) = blocks(PAGE, "ariadne-codegen", "text")
    (tmp_path / "pyproject.toml").write_text(configuration)
    (tmp_path / "queries.graphql").write_text(queries)
    shutil.copy(ROOT / "schema.graphql", tmp_path)

    run(sys.executable, "-m", "ariadne_codegen", folder=tmp_path, settings=python_tools)
    done = run(sys.executable, "-c", at(week.url, program), folder=tmp_path, settings=python_tools)

    assert done.stdout == output
    assert set(tomllib.loads(configuration)["tool"]["ariadne-codegen"]["scalars"]) == SCALARS


def test_sgqlc_reads_the_schema_of_the_service_and_its_program_runs(
    tmp_path: Path, python_tools: dict[str, str], week: Service
) -> None:
    (commands,) = blocks(PAGE, "sgqlc", "sh")
    (program,) = blocks(PAGE, "sgqlc", "python")
    (output,) = blocks(PAGE, "sgqlc", "text")

    for command in at(week.url, commands).splitlines():
        run(sys.executable, *command.split()[1:], folder=tmp_path, settings=python_tools)
    done = run(sys.executable, "-c", at(week.url, program), folder=tmp_path, settings=python_tools)

    assert done.stdout == output
