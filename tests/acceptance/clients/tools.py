"""The tools of other projects that judge the graph: the pinned versions or, in a thorough run, today's.

`npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved` in documented/ or supergraph/ makes
the lock of those of JavaScript, `scripts/lock` that of those of Python. A tool that fails prints its own message.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from scripts import npm_lock, pip_lock
from scripts.npm_package import NpmPackage
from tests.effort import THOROUGH
from tests.sharing import folder_of_run, made_once

HERE = Path(__file__).parent / "documented"
SUPERGRAPH = HERE.with_name("supergraph")
RELAY_COMPILER = NpmPackage(
    "relay-compiler",
    "21.0.1",
    sha512="Wqlg3MtHyBlAYByVo24Wy9H3n2bAw991gPmzdo3XfNv+TzhI8zuGogtiae+7NORI7zhghgZaHC7Sp8S8ZPRYEA==",
    needed="package/linux-x64",  # a quarter of the package, which has a compiler for each platform
)
PYTHON = ("ariadne-codegen", "sgqlc")  # which need an earlier graphql-core than this environment's


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of npm, installed by one process of this run."""

    def install(target: Path) -> Path:
        return npm_lock.newest(HERE, target, RELAY_COMPILER.name) if THOROUGH else npm_lock.installed(HERE)

    return _installed_once(tmp_path_factory, "npm", install)


@pytest.fixture(scope="session")
def gateways(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of npm that compose supergraphs and serve them, always the pinned ones."""
    return _installed_once(tmp_path_factory, "supergraph", lambda target: npm_lock.installed(SUPERGRAPH))


@pytest.fixture
def project(tmp_path: Path, node_modules: Path) -> Path:
    """An empty project, whose files are modules, with the packages of npm."""
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "node_modules").symlink_to(node_modules)
    (tmp_path / "src").mkdir()
    return tmp_path


@pytest.fixture(scope="session")
def relay_compiler(node_modules: Path) -> Path:
    """The program of Relay's compiler."""
    return (node_modules / "relay-compiler" / "linux-x64" if THOROUGH else RELAY_COMPILER.fetched()) / "relay"


@pytest.fixture(scope="session")
def python_tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The setting by which Python finds ariadne-codegen and sgqlc."""

    def install(target: Path) -> Path:
        return pip_lock.newest(target, *PYTHON) if THOROUGH else pip_lock.installed(HERE / "codegen.lock")

    return {"PYTHONPATH": str(_installed_once(tmp_path_factory, "codegen", install))}


@pytest.fixture(scope="session")
def gql(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The setting by which Python finds gql. The pinned one is in this environment."""

    def install(target: Path) -> Path:
        return pip_lock.newest(target, "gql[httpx,websockets]")

    return {"PYTHONPATH": str(_installed_once(tmp_path_factory, "gql", install))} if THOROUGH else {}


def _installed_once(factory: pytest.TempPathFactory, name: str, install: Callable[[Path], Path]) -> Path:
    folder = folder_of_run(factory)
    note = made_once(folder / f"{name}.txt", lambda path: path.write_text(str(install(folder / name))))
    return Path(note.read_text())
