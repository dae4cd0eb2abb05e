"""gql, ariadne-codegen, pandas and ObsPy run the programs of docs/clients/python.md."""

import asyncio
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scripts.pip_lock import installed
from tests.acceptance.clients.documented.programs import ENVIRONMENT, at, blocks, lines, run, with_output
from tests.children import Child
from tests.documents.markdown import ROOT
from tests.service import Service
from tests.subscribers import LiveService

PAGE = "docs/clients/python.md"
SCALARS = set(re.findall(r"^scalar (\w+)", (ROOT / "schema.graphql").read_text(), re.MULTILINE))
LOCK = Path(__file__).with_name("ariadne-codegen.lock")
OTHERS = ("session.subscribe(", "from quakes import")  # in the programs that tests of their own run
PROGRAMS = [each for each in with_output(PAGE, "python") if not any(part in each[0] for part in OTHERS)]


@pytest.mark.parametrize(("program", "output"), PROGRAMS, ids=["gql", "CSV", "Parquet", "graph", "ObsPy"])
def test_the_program_prints_what_is_below_it(program: str, output: str, tmp_path: Path, week: Service) -> None:
    done = run(sys.executable, "-c", at(week.url, program), folder=tmp_path)

    assert lines(done.stdout) == lines(output)


async def test_gql_follows_events_over_a_websocket(live: LiveService) -> None:
    _, program = blocks(PAGE, "gql", "python")
    _, output = blocks(PAGE, "gql", "text")
    command = [sys.executable, "-c", at(live.url, program)]
    with Child(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        await live.has_subscriptions(1)
        live.store("us1", mag=4.5)
        assert process.stdout is not None
        assert await asyncio.to_thread(process.stdout.readline) == output
        process.kill()


def test_ariadne_codegen_knows_every_scalar_and_its_client_runs(tmp_path: Path, week: Service) -> None:
    (configuration,) = blocks(PAGE, "ariadne-codegen", "toml")
    (queries,) = blocks(PAGE, "ariadne-codegen", "graphql")
    (program,) = blocks(PAGE, "ariadne-codegen", "python")
    (output,) = blocks(PAGE, "ariadne-codegen", "text")
    (tmp_path / "pyproject.toml").write_text(configuration)
    (tmp_path / "queries.graphql").write_text(queries)
    shutil.copy(ROOT / "schema.graphql", tmp_path)
    packages = {"PYTHONPATH": str(installed(LOCK))}

    run(sys.executable, "-m", "ariadne_codegen", folder=tmp_path, settings=packages)
    done = run(sys.executable, "-c", at(week.url, program), folder=tmp_path, settings=packages)

    assert done.stdout == output
    assert set(tomllib.loads(configuration)["tool"]["ariadne-codegen"]["scalars"]) == SCALARS
