"""What the processes of one run share: pytest-xdist runs the tests in several processes, each with its own session.

`-n auto` starts two processes more than there are processors, since tests also wait for disks, browsers and children.
Files that tests only read are made once for all processes: `made_once`. Servers are started and stopped by the parent
of all processes: see `tests.store.emulator`.

Each client of httpx reads the certificates again, in 30 ms, as does each of botocore, and each session of botocore its
data, in 50 ms. A service makes a client or two in its life; the tests make thousands. So here httpx's certificates and
botocore's data are read once, and botocore's certificates never: the emulator is reached without TLS. The garbage
collector leaves out what was collected, as it does in a service that has started: it would walk through six thousand
tests each time.
"""

import ctypes
import fcntl
import os
import sys
from collections.abc import Callable, Generator
from functools import cache
from pathlib import Path
from typing import Any

import aiobotocore.httpsession
import botocore.session
import httpx._transports.default
import pytest

from graph.core.garbage import settle
from tests.children import kill_descendants

PR_SET_CHILD_SUBREAPER = 36  # of <linux/prctl.h>

_has_nodes = pytest.StashKey[bool]()

httpx._transports.default.create_ssl_context = cache(httpx.create_ssl_context)  # type: ignore[attr-defined]
botocore.session.create_loader = cache(botocore.session.create_loader)
aiobotocore.httpsession.get_cert_path = lambda verify: None  # type: ignore[attr-defined]


def pytest_xdist_auto_num_workers() -> int:
    return (os.cpu_count() or 1) + 2


def pytest_collection_finish() -> None:
    settle()


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, object, object]:
    return _encodable((yield))


def _encodable(value: object) -> object:
    """The value without halves of surrogate pairs, which a test may log but execnet cannot send to xdist."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(name): _encodable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_encodable, value))
    return value


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Adopt the children of a pytest-xdist process that ends before them, for example after Ctrl-C."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    node.config.stash[_has_nodes] = True


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    if config.stash.get(_has_nodes, False):
        kill_descendants(os.getpid())


def folder_of_run(factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run share, and no other run uses."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def made_once(path: Path, make: Callable[[Path], object]) -> Path:
    """Make the file with `make`, unless another process of this run has made it. Returns the path."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the end of a process releases it
        if not path.exists():
            begun = path.with_name(f"{path.name}.begun")
            begun.unlink(missing_ok=True)  # of a process that failed
            make(begun)
            begun.rename(path)
    return path
