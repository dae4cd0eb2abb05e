"""What is installed, and how: bounded, pinned and hashed dependencies, and a container that is no root."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUNTIME = [Requirement(text) for text in PROJECT["dependencies"]]


def extra(name: str) -> list[Requirement]:
    """What an extra needs, with the extras of this project that it has."""
    direct = [Requirement(text) for text in PROJECT["optional-dependencies"][name]]
    others = [each for requirement in direct if requirement.name == PROJECT["name"] for each in requirement.extras]
    needed = [requirement for requirement in direct if requirement.name != PROJECT["name"]]
    return needed + [requirement for other in others for requirement in extra(other)]


def pinned(lock: str) -> dict[str, str]:
    """Name → version of every requirement of a lock file."""
    found = re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)", (ROOT / lock).read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


LOCKS = {
    "requirements.lock": RUNTIME,
    "requirements-test.lock": RUNTIME + extra("test"),
    "requirements-dev.lock": RUNTIME + extra("dev"),
}


def test_a_dependency_is_bounded_on_both_sides() -> None:
    for requirement in LOCKS["requirements-dev.lock"]:
        assert {clause.operator for clause in requirement.specifier} == {">=", "<"}, requirement.name


def test_the_locks_agree_and_satisfy_the_requirements_of_the_project() -> None:
    for lock, requirements in LOCKS.items():
        versions = pinned(lock)
        for requirement in requirements:
            assert versions[canonicalize_name(requirement.name)] in requirement.specifier, requirement.name
        assert versions.items() <= pinned("requirements-dev.lock").items()


def test_a_lock_has_hashes_for_all_and_names_no_place() -> None:
    lined = re.compile(r"[\w.\[\],-]+==[\w.]+( ; .*)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    for lock in LOCKS:
        lines = (ROOT / lock).read_text().splitlines()
        assert [line for line in lines if not lined.fullmatch(line)] == []
        requirements = [at for at, line in enumerate(lines) if not line.startswith(" ")]
        assert all(lines[at + 1].startswith("    --hash=") for at in requirements)


def test_the_image_runs_as_a_user_of_its_own_and_checks_its_health() -> None:
    whole = (ROOT / "Dockerfile").read_text()
    final = whole.split("\nFROM ")[-1]

    assert whole.startswith("# syntax=")  # elsewhere, it is an ordinary comment
    assert "docker run --read-only --tmpfs /tmp " in whole.partition("FROM ")[0]
    assert re.search(r"^USER quakegraph$", final, re.MULTILINE)
    assert "/readyz" in re.findall(r"^HEALTHCHECK .*\\\n.*$", final, re.MULTILINE)[0]


def test_each_command_of_the_readme_is_one_line() -> None:
    blocks = re.findall(r"<!-- command: (\w+) -->\n```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)

    assert [(name, block.count("\n")) for name, block in blocks] == [("run", 1), ("test", 1)]
