"""The secret that a service makes for itself: one for all its processes, and for nobody else on the machine."""

import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import forkserver, get_context
from pathlib import Path

import pytest

from graph.access.own_secret import UnusableSecret, own_secret
from graph.store.location import StoreLocation
from tests.left_open import lasting


def location(folder: Path) -> StoreLocation:
    return StoreLocation.of(f"sqlite:///{folder}/quakes.db")


def test_a_secret_is_created_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    secret = own_secret(location(tmp_path))

    assert len(secret) == 64
    assert own_secret(location(tmp_path)) == secret
    (made,) = tmp_path.iterdir()
    assert (made.name, stat.S_IMODE(made.stat().st_mode)) == ("quakes.db.secret", 0o600)


def test_a_table_has_another_secret_in_the_working_folder(folder: Path) -> None:
    assert own_secret(StoreLocation.of("dynamodb://earthquake-events")) != own_secret(location(folder))
    assert (folder / "earthquake-events.secret").exists()


def test_processes_that_start_at_once_agree_on_one(tmp_path: Path) -> None:
    forking = get_context("forkserver")
    forking.set_forkserver_preload(["graph.cli"])
    with lasting():
        forkserver.ensure_running()
    with ProcessPoolExecutor(8, mp_context=forking) as processes:
        found = set(processes.map(own_secret, [location(tmp_path)] * 32))

    assert found == {own_secret(location(tmp_path))}
    assert [path.name for path in tmp_path.iterdir()] == ["quakes.db.secret"]


def test_a_secret_that_others_can_read_or_that_is_too_short_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "quakes.db.secret"
    own_secret(location(tmp_path))
    for mode in (0o644, 0o640, 0o604, 0o660, 0o666, 0o610):
        file.chmod(mode)
        with pytest.raises(UnusableSecret, match="can be read by others: run `chmod 600"):
            own_secret(location(tmp_path))
    file.chmod(0o600)
    for text in ("", "short", " " * 100):
        file.write_text(text)
        with pytest.raises(UnusableSecret, match="is too short: delete it"):
            own_secret(location(tmp_path))
    with pytest.raises(UnusableSecret, match=r"cannot be used: No such file or directory"):
        own_secret(location(tmp_path / "nowhere"))
