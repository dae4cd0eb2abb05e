"""Look-ups of names: in threads of their own, each name once at a time, and never for long."""

import asyncio
import gc
import socket
from threading import Event, Lock
from typing import Any

import pytest

from graph.domains.triggers.sending.answers import Failure
from graph.domains.triggers.sending.destinations import Destinations
from graph.domains.triggers.sending.resolver import NameNotResolved, Resolver
from tests.domains.triggers.sending.receivers import OWN_NETWORK, answer, names, outbound, receiving


class SlowNames:
    """A name server that answers for `slow.example` only once it is told to."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.answers = Event()
        self.asked: list[str] = []
        self._lock = Lock()

    def __call__(self, host: str, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            self.asked.append(host)
        if host == "slow.example":
            self.answers.wait()
        return [answer(self._address)]


async def test_a_slow_name_server_delays_no_other_name() -> None:
    look_up = SlowNames("127.0.0.1")
    resolver = Resolver(OWN_NETWORK, threads=2, look_up=look_up)
    async with receiving() as receiver, outbound(resolver=resolver) as ours:
        slow = [asyncio.create_task(ours.send(receiver.url("slow.example"))) for _ in range(20)]
        try:
            quick = [await ours.send(receiver.url(f"{at}.example")) for at in range(3)]
            assert [each.status for each in quick] == [200] * 3
            assert not any(task.done() for task in slow)
        finally:
            look_up.answers.set()
        assert [each.status for each in await asyncio.gather(*slow)] == [200] * 20
    assert look_up.asked.count("slow.example") == 1


async def test_a_look_up_without_an_end_has_a_time_limit() -> None:
    look_up = SlowNames("127.0.0.1")
    async with outbound(resolver=Resolver(OWN_NETWORK, timeout_s=0.05, look_up=look_up)) as ours:
        try:
            answer = await ours.send("http://slow.example/")
            assert await ours.refusal("http://slow.example/")
        finally:
            look_up.answers.set()

    assert answer.error is Failure.NAME_NOT_RESOLVED


async def test_one_who_gives_up_takes_the_look_up_from_nobody_else() -> None:
    look_up = SlowNames("8.8.8.8")
    resolver = Resolver(Destinations(), look_up=look_up)
    try:
        hurried, patient = (asyncio.create_task(resolver.resolve("slow.example")) for _ in range(2))
        await asyncio.sleep(0)  # both begin
        hurried.cancel()
        await asyncio.wait([hurried])
        look_up.answers.set()
        assert [each["host"] for each in await patient] == ["8.8.8.8"]
    finally:
        look_up.answers.set()
        await resolver.close()
    assert look_up.asked == ["slow.example"]


async def test_a_look_up_that_fails_when_nobody_waits_any_more_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    may_fail, failed = Event(), Event()

    def look_up(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
        may_fail.wait()
        failed.set()
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    resolver = Resolver(Destinations(), timeout_s=0, look_up=look_up)
    with pytest.raises(NameNotResolved):
        await resolver.resolve("slow.example")
    may_fail.set()
    await asyncio.to_thread(failed.wait)
    with pytest.raises(NameNotResolved):
        await resolver.resolve("other.example")  # the loop has heard of the failure before this ends
    await resolver.close()
    gc.collect()

    assert not caplog.records


async def test_all_addresses_of_any_family_are_returned_once_and_each_new_look_up_asks_again() -> None:
    asked = []

    def look_up(host: str, *given: Any, **others: Any) -> list[tuple[Any, ...]]:
        asked.append(host)
        return [answer(address) for address in ("8.8.8.8", "2606:4700::1111", "8.8.8.8")]

    async with outbound(look_up=look_up) as ours:
        for _ in range(3):
            found = await ours.resolver.resolve("hook.example", 443)
            assert [(each["host"], each["port"], each["family"]) for each in found] == [
                ("8.8.8.8", 443, socket.AF_INET),
                ("2606:4700::1111", 443, socket.AF_INET6),
            ]
    assert asked == ["hook.example"] * 3


async def test_a_name_without_addresses_is_refused_as_one_of_the_network_is() -> None:
    """So a check does not tell which names exist in the service's network."""
    async with outbound(Destinations(), look_up=names(empty_example=[], wiki_corp="10.0.0.7")) as ours:
        inside = await ours.refusal("https://wiki.corp/")
        for host in ("nowhere.example", "empty.example"):
            assert await ours.refusal(f"https://{host}/") == inside != ""
            assert (await ours.send(f"https://{host}/")).error is Failure.NAME_NOT_RESOLVED
            with pytest.raises(NameNotResolved):
                await ours.resolver.resolve(host)
