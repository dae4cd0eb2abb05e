"""The dashboard's service: the real one on the real week, with a subscription that a test directs."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr

from graph.app import create_app
from tests.bearers import SECRET
from tests.pages.dashboard.subscription import Subscription
from tests.service import serving, unhurried
from tests.settings import Settings

Opener = Callable[..., tuple[str, Subscription]]


def app_on(store: Path, **others: object) -> Subscription:
    """The service on a SQLite file."""
    settings = Settings.model_validate(
        {
            "store": f"sqlite:///{store}",
            "usgs_url": "http://127.0.0.1:9",
            "jwt_secret": SecretStr(SECRET),
            **others,
        }
    )
    return Subscription(create_app(unhurried(settings)))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, week_file: Path) -> Iterator[str]:
    """Where the week is shown, for tests that only look."""
    copied = tmp_path_factory.mktemp("dashboard") / "week.db"
    shutil.copy(week_file, copied)
    with serving(app_on(copied)) as url:
        yield url


@pytest.fixture
def opened(tmp_path: Path, week_file: Path) -> Iterator[Opener]:
    """Starts a service of the test's own: by default with the week, and with what settings it likes."""
    with ExitStack() as stack:

        def start(*, empty: bool = False, **settings: object) -> tuple[str, Subscription]:
            store = tmp_path / "own.db"
            if not empty:
                shutil.copy(week_file, store)
            app = app_on(store, **settings)
            url = stack.enter_context(serving(app))
            stack.callback(app.close)
            return url, app

        yield start
