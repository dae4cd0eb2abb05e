"""What is installed, and how: bounded, pinned and hashed dependencies, and a container that is no root."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUNTIME = [Requirement(text) for text in PROJECT["dependencies"]]
DEVELOPMENT = [Requirement(text) for text in PROJECT["optional-dependencies"]["dev"]]


def pinned(lock: str) -> dict[str, str]:
    """Name → version of every requirement of a lock file."""
    found = re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)", (ROOT / lock).read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


@pytest.mark.parametrize("requirement", RUNTIME + DEVELOPMENT, ids=lambda requirement: str(requirement.name))
def test_a_dependency_is_bounded_on_both_sides(requirement: Requirement) -> None:
    assert {clause.operator for clause in requirement.specifier} == {">=", "<"}


@pytest.mark.parametrize(
    ("lock", "requirements"), [("requirements.lock", RUNTIME), ("requirements-dev.lock", RUNTIME + DEVELOPMENT)]
)
def test_a_lock_satisfies_the_requirements_of_the_project(lock: str, requirements: list[Requirement]) -> None:
    versions = pinned(lock)

    for requirement in requirements:
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier, requirement.name


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_has_hashes_for_all_and_names_no_place(lock: str) -> None:
    lines = (ROOT / lock).read_text().splitlines()

    assert all(
        re.fullmatch(r"[\w.\[\],-]+==[\w.]+( ; .*)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in lines
    )
    requirements = [at for at, line in enumerate(lines) if not line.startswith(" ")]
    assert all(lines[at + 1].startswith("    --hash=") for at in requirements)


def test_both_locks_agree() -> None:
    assert pinned("requirements.lock").items() <= pinned("requirements-dev.lock").items()


def test_the_image_runs_as_a_user_of_its_own_and_checks_its_health() -> None:
    final = (ROOT / "Dockerfile").read_text().split("\nFROM ")[-1]

    assert re.search(r"^USER quakegraph$", final, re.MULTILINE)
    assert "/readyz" in re.findall(r"^HEALTHCHECK .*\\\n.*$", final, re.MULTILINE)[0]


@pytest.mark.parametrize("name", ["run", "test"])
def test_each_command_of_the_readme_is_one_line(name: str) -> None:
    block = re.search(rf"<!-- command: {name} -->\n```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)

    assert block
    assert block[1].count("\n") == 1
