"""Fills two stores with many items of each domain, and keeps them in a folder.

One has a million events, service logs, events of an inbox, and data files. The other one has sightings, which expire:
so it is made again when they are about to.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import orjson

from benchmarks.contenders import our_service
from benchmarks.cpus import Cpus
from benchmarks.data_files.stores import store_files
from benchmarks.data_files.world import World as Mission
from benchmarks.servers import running
from benchmarks.service_logs import batches, encoded, sent
from benchmarks.sightings.stores import filled
from benchmarks.sightings.world import RUN_S
from benchmarks.sightings.world import World as Sightings
from benchmarks.stores import import_ours
from benchmarks.triggers.programs import USER
from benchmarks.triggers.stores import InboxOf, done, store_inbox

BATCH = 1000  # logs of a request
FILLING_S = 150e-6  # for each sighting; the newest ones are from after that
MEASURING_S = RUN_S / 2


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many items there are of each domain."""

    events: int = 1_000_000
    logs: int = 1_000_000
    inbox: int = 1_000_000
    days: int = 1600  # of 252 data files
    sightings: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores with what is in them."""

    folder: Path
    sizes: Sizes
    end_ns: int  # time of the last log and the last event of the inbox, epoch nanoseconds
    now: int  # when the sightings are active, epoch seconds

    @property
    def main(self) -> Path:
        """The file with all domains but sightings."""
        return self.folder / "domains.db"

    @property
    def blips(self) -> Path:
        """The file with sightings."""
        return self.folder / "sightings.db"

    @property
    def sightings(self) -> Sightings:
        """The sightings."""
        return Sightings(self.sizes.sightings, self.now)

    @property
    def mission(self) -> Mission:
        """The data files."""
        return Mission(self.sizes.days)


def stores_in(folder: Path, sizes: Sizes, cpus: Cpus) -> Stores:
    """The stores of a folder, which are made if they are missing, of other sizes or too old."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "stores.json"
    wanted = orjson.loads(orjson.dumps(sizes))
    known = orjson.loads(kept.read_bytes()) if kept.exists() else {}
    end_ns, now = known.get("end_ns", 0), known.get("now", 0)
    if known.get("sizes") != wanted:
        now, end_ns = 0, time.time_ns()
        for file in folder.glob("*.db*"):
            file.unlink()
        _make_main(Stores(folder, sizes, end_ns, 0), cpus)
    if time.time() + MEASURING_S > now + RUN_S:
        for file in folder.glob("sightings.db*"):
            file.unlink()
        now = round(time.time() + sizes.sightings * FILLING_S)
        stores = Stores(folder, sizes, end_ns, now)
        _timed("sightings", sizes.sightings, lambda: filled(stores.sightings, stores.blips))
        time.sleep(max(0, now - time.time()))
    kept.write_bytes(orjson.dumps({"sizes": wanted, "end_ns": end_ns, "now": now}))
    return Stores(folder, sizes, end_ns, now)


def _make_main(stores: Stores, cpus: Cpus) -> None:
    sizes, path = stores.sizes, stores.main
    _timed("events", sizes.events, lambda: import_ours(sizes.events, path, cpus.server))
    _timed("service logs", sizes.logs, lambda: _send_logs(stores, cpus))
    inbox = InboxOf(USER, sizes.inbox, stores.end_ns // 1000)
    _timed("events of an inbox", sizes.inbox, lambda: done(store_inbox(path, inbox)))
    _timed("data files", stores.mission.files, lambda: done(store_files(stores.mission, path)))


def _send_logs(stores: Stores, cpus: Cpus) -> None:
    bodies = [encoded(batch) for batch in batches(stores.sizes.logs, BATCH, stores.end_ns)]
    service = our_service(stores.main, scopes="servicelogs:write")
    with running(service, cpus.server, stores.folder) as server:
        sent(server, bodies)


def _timed(what: str, number: int, make: Callable[[], object]) -> None:
    began = time.perf_counter()
    make()
    click.echo(f"Stored {number:,} {what} in {time.perf_counter() - began:.0f} s.", err=True)
