"""Measures the time from the start of a service's process to its first answer."""

import socket
import subprocess
from http.client import HTTPConnection
from time import perf_counter, sleep

from benchmarks.cache import CHECKOUT
from benchmarks.contenders import Contender
from benchmarks.cpus import on_cpu
from benchmarks.servers import JSON
from benchmarks.workload import Lookup

TIMEOUT_S = 60.0
POLL_S = 0.001
READY = Lookup("none")  # it is answered once the store can be reached


def start_seconds(contender: Contender, cpu: int | None) -> float:
    """Start a service, wait for its first answer, and stop it. Returns the seconds from start to answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    began = perf_counter()
    with on_cpu(cpu):
        process = subprocess.Popen(
            contender.command(port), cwd=CHECKOUT, env=contender.environment, stderr=subprocess.DEVNULL
        )
    with process:
        try:
            while perf_counter() - began < TIMEOUT_S and process.poll() is None:
                if _answers(port, contender.dialect.body(READY)):
                    return perf_counter() - began
                sleep(POLL_S)
            raise RuntimeError(f"{contender.name} does not start")
        finally:
            process.terminate()


def _answers(port: int, body: bytes) -> bool:
    http = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        http.request("POST", "/graphql", body, JSON)
        return http.getresponse().status == 200
    except ConnectionRefusedError:
        return False
    finally:
        http.close()
