"""The example domain as its author ships it: pip builds and installs it, and real processes serve it on each engine."""

import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from graph.access.callers import Scope
from graph.domain import ORIGIN
from tests.bearers import bearer
from tests.children import Child
from tests.documents.markdown import ROOT
from tests.domain.plugins import EXAMPLE
from tests.processes import TIMEOUT_S, environment, printing_its_address

WRITE = 'mutation { writeFieldNote(input: {area: "Napa", rating: 5, text: "a"}) { note { text } } }'
READ = "{ fieldNotes { nodes { text } } }"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment. Beside the example it finds what this environment has, the service too."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "service.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    shutil.copytree(EXAMPLE, folder / "example", ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--quiet", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install", *options]
    subprocess.run([*pip, str(folder / "example")], check=True)
    return folder / "bin/python"


@pytest.fixture(params=["sqlite", "dynamodb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/notes.db"
    request.getfixturevalue("administered_dynamodb")
    return f"dynamodb://{uuid4().hex}-"


def run(python: Path, *arguments: str, **settings: str) -> str:
    """What a module prints."""
    env = environment({"PYTHONPATH": "", **settings})
    return subprocess.run([python, "-m", *arguments], env=env, check=True, capture_output=True, text=True).stdout


def test_a_service_has_the_domain_that_pip_has_installed(python: Path, store: str, tmp_path: Path) -> None:
    settings = {"GRAPH_STORE": store}
    assert "field-notes" in run(python, "graph", "tables", "create", "--no-stream", **settings)
    serve = [str(python), "-m", "graph", "serve", "--port", "0"]
    env = environment({"PYTHONPATH": "", **settings})
    with (
        Child(serve, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True) as process,
        printing_its_address(process) as server,
        httpx.Client(base_url=server.url.removesuffix("/graphql"), trust_env=False, timeout=TIMEOUT_S) as http,
    ):
        written = http.post("/graphql", json={"query": WRITE}, headers=bearer(Scope("notes:write"))).json()
        assert written == {"data": {"writeFieldNote": {"note": {"text": "a"}}}}
        read = http.post("/graphql", json={"query": READ}).json()
        assert read == {"data": {"fieldNotes": {"nodes": [{"text": "a"}]}}}
        assert "query FieldNotes" in http.get("/graphql", headers={"Accept": "text/html"}).text
        assert http.get("/readyz").json()["fieldNotes"] == {"written": 1}
        assert "quakegraph_field_notes_total 1.0" in http.get("/metrics").text
    assert run(python, "graph", "count-field-notes", **settings) == "1\n"
    listed = run(python, "graph", "domains", GRAPH_DOMAINS="-field_notes").splitlines()
    assert [line.split() for line in listed if "quakegraph-" in line] == [
        ["field_notes", "off", "-", "quakegraph-field-notes", "1.0"]
    ]
    assert ORIGIN in listed[1]


def test_the_factory_has_it_and_the_authors_own_test_passes(python: Path, tmp_path: Path) -> None:
    serve = [str(python), "-m", "uvicorn", "--factory", "graph.app:create_app", "--port", "0"]
    env = environment({"PYTHONPATH": ""})
    with Child(serve, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        address = next(found[0] for line in process.stderr if (found := re.search(r"http://[\d.:]+", line)))
        answer = httpx.post(f"{address}/graphql", json={"query": READ}, trust_env=False, timeout=TIMEOUT_S)
    assert answer.json() == {"data": {"fieldNotes": {"nodes": []}}}

    assert "1 passed" in run(python, "pytest", "-q", "-p", "no:cacheprovider", str(python.parents[1] / "example"))
