"""The secret that a service makes for itself: one for all its processes, and for nobody else on the machine."""

import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from graph.access.own_secret import UnusableSecret, own_secret
from graph.store.location import StoreLocation


def location(folder: Path) -> StoreLocation:
    return StoreLocation.of(f"sqlite:///{folder}/quakes.db")


def test_a_secret_is_created_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    secret = own_secret(location(tmp_path))

    assert len(secret) == 64
    assert own_secret(location(tmp_path)) == secret
    (made,) = tmp_path.iterdir()
    assert (made.name, stat.S_IMODE(made.stat().st_mode)) == ("quakes.db.secret", 0o600)


def test_two_stores_have_two_secrets(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()

    assert own_secret(location(tmp_path)) != own_secret(location(other))


def test_a_table_has_its_secret_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    own_secret(StoreLocation.of("dynamodb://earthquake-events"))

    assert (tmp_path / "earthquake-events.secret").exists()


def test_processes_that_start_at_once_agree_on_one(tmp_path: Path) -> None:
    with ProcessPoolExecutor(8, mp_context=get_context("spawn")) as processes:
        found = set(processes.map(own_secret, [location(tmp_path)] * 32))

    assert found == {own_secret(location(tmp_path))}
    assert [path.name for path in tmp_path.iterdir()] == ["quakes.db.secret"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o666, 0o610])
def test_a_secret_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    own_secret(location(tmp_path))
    file = tmp_path / "quakes.db.secret"
    file.chmod(mode)

    with pytest.raises(UnusableSecret, match="can be read by others: run `chmod 600"):
        own_secret(location(tmp_path))


@pytest.mark.parametrize("text", ["", "short", " " * 100])
def test_a_secret_file_with_too_short_a_secret_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "quakes.db.secret"
    file.write_text(text)
    file.chmod(0o600)

    with pytest.raises(UnusableSecret, match="is too short: delete it"):
        own_secret(location(tmp_path))


def test_a_missing_folder_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(UnusableSecret, match=r"cannot be used: No such file or directory"):
        own_secret(location(tmp_path / "nowhere"))
