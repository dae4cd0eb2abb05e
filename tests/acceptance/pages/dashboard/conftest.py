"""The dashboard's service: the real one on a sparse week, with a subscription that a test directs.

To draw all events of the real week takes Chromium a second or two each time. So most tests look at a tenth of them:
the strong ones, the newest, and some of the others.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from graph.app import create_app
from graph.core.clock import Clock, now_ms
from graph.pages import dashboard
from graph.pages.dashboard import templates
from graph.pages.dashboard.templates import UNBUNDLED
from tests.acceptance.pages.dashboard.subscription import Subscription
from tests.bearers import SECRET
from tests.domains.earthquakes.usgs.usgs_server import running_usgs, week_features
from tests.service import running, serving
from tests.service import settings as settings_for
from tests.settings import Settings
from tests.sharing import folder_of_run, made_once

EVERY = 20  # one of so many weak events is in the sparse week

Opener = Callable[..., Subscription]


def app_on(store: Path, *, clock: Clock = now_ms, **others: object) -> Subscription:
    """The service on a SQLite file."""
    own = {"store": f"sqlite:///{store}", "usgs_url": "http://127.0.0.1:9", "jwt_secret": SECRET}
    settings = Settings.model_validate({**own, **others})
    return Subscription(create_app(settings, clock=clock))


@pytest.fixture(scope="session")
def sparse_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file that holds the sparse week, to be copied. No process writes to it."""
    newest, *others = week_features()
    strong = [feature for feature in others if (feature["properties"]["mag"] or 0) >= 4.5]
    weak = [feature for feature in others if feature not in strong]

    def ingest(path: Path) -> None:
        with running_usgs() as usgs, running(settings_for(path, usgs)) as service:
            usgs.hold([newest, *strong, *weak[::EVERY]])
            service.ask("mutation { ingestRecent(input: {feed: ALL_WEEK}) { upserted } }")

    return made_once(folder_of_run(tmp_path_factory) / "sparse-week.db", ingest)


@pytest.fixture(scope="module")
def whole_week(tmp_path_factory: pytest.TempPathFactory, week_file: Path) -> Iterator[str]:
    """Where the whole week is shown, for tests that only look."""
    yield from shown_copy(week_file, tmp_path_factory.mktemp("dashboard"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, sparse_file: Path) -> Iterator[str]:
    """Where the sparse week is shown, for tests that only look."""
    yield from shown_copy(sparse_file, tmp_path_factory.mktemp("dashboard"))


@pytest.fixture(scope="module")
def from_modules(tmp_path_factory: pytest.TempPathFactory, sparse_file: Path) -> Iterator[str]:
    """Where the sparse week is shown without a bundle, so that a test may import the modules that the page has."""
    copied = tmp_path_factory.mktemp("dashboard") / "week.db"
    shutil.copy(sparse_file, copied)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(templates, "FILES", UNBUNDLED)
        patch.setattr(dashboard, "FILES", UNBUNDLED)
        app = app_on(copied)
    with shown(app) as url:
        yield url


def shown_copy(file: Path, folder: Path, **settings: Any) -> Iterator[str]:
    """Where a copy of a SQLite file in a folder is shown."""
    with shown(app_on(Path(shutil.copy(file, folder)), **settings)) as url:
        yield url


@contextmanager
def shown(app: Subscription) -> Iterator[str]:
    """Run the service, which lets go of pages that are open at its end."""
    with serving(app) as url:
        yield url
        app.close()


@pytest.fixture
def opened(tmp_path: Path, sparse_file: Path) -> Iterator[Opener]:
    """Starts a service of the test's own: by default with the sparse week, and with what settings it likes."""
    with ExitStack() as stack:

        def start(*, empty: bool = False, clock: Clock = now_ms, **settings: object) -> Subscription:
            store = tmp_path / "own.db"
            if not empty:
                shutil.copy(sparse_file, store)
            app = app_on(store, clock=clock, **settings)
            app.url = stack.enter_context(shown(app))
            return app

        yield start


@pytest.fixture
def subscription(opened: Opener) -> Subscription:
    """The subscription of a service of the test's own, with the sparse week."""
    return opened()
