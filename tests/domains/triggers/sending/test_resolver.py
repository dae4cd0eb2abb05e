"""Look-ups of names: in threads of their own, each name once at a time, and never for long."""

import asyncio
import gc
import socket
from threading import Event, Lock
from typing import Any

import pytest

from graph.domains.triggers.sending.answers import Failure
from graph.domains.triggers.sending.destinations import Destinations, EndpointRefused
from graph.domains.triggers.sending.resolver import NameNotResolved, Resolver
from graph.domains.triggers.sending.sender import Sender
from tests.domains.triggers.sending.receivers import OWN_NETWORK, a_message, answer, names, receiving


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
    try:
        async with receiving() as receiver, Sender(resolver) as sender:
            slow = [asyncio.create_task(sender.send(a_message(receiver.url("slow.example")))) for _ in range(20)]
            quick = [await sender.send(a_message(receiver.url(f"{at}.example"))) for at in range(3)]
            assert [each.status for each in quick] == [200] * 3
            assert not any(task.done() for task in slow)

            look_up.answers.set()
            assert [each.status for each in await asyncio.gather(*slow)] == [200] * 20
    finally:
        look_up.answers.set()
        await resolver.close()
    assert look_up.asked.count("slow.example") == 1


async def test_a_look_up_without_an_end_has_a_time_limit() -> None:
    look_up = SlowNames("127.0.0.1")
    resolver = Resolver(OWN_NETWORK, timeout_s=0.05, look_up=look_up)
    try:
        async with Sender(resolver) as sender:
            answer = await sender.send(a_message("http://slow.example/"))
            with pytest.raises(EndpointRefused):
                await resolver.check("http://slow.example/")
    finally:
        look_up.answers.set()
        await resolver.close()

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


async def test_each_new_look_up_asks_again() -> None:
    look_up = SlowNames("8.8.8.8")
    resolver = Resolver(Destinations(), look_up=look_up)
    for _ in range(3):
        await resolver.resolve("hook.example", 443)
    await resolver.close()

    assert look_up.asked == ["hook.example"] * 3


async def test_all_addresses_of_any_family_are_returned_once() -> None:
    addresses = ["8.8.8.8", "2606:4700::1111", "8.8.8.8"]
    resolver = Resolver(Destinations(), look_up=names(hook_example=addresses))
    found = await resolver.resolve("hook.example", 443)
    await resolver.close()

    assert [(each["host"], each["port"], each["family"]) for each in found] == [
        ("8.8.8.8", 443, socket.AF_INET),
        ("2606:4700::1111", 443, socket.AF_INET6),
    ]


@pytest.mark.parametrize("host", ["nowhere.example", "empty.example"])
async def test_a_name_without_addresses_is_refused_as_one_of_the_network_is(host: str) -> None:
    """So a check does not tell which names exist in the service's network."""
    resolver = Resolver(Destinations(), look_up=names(empty_example=[], wiki_corp="10.0.0.7"))
    try:
        async with Sender(resolver) as sender:
            answer = await sender.send(a_message(f"https://{host}/"))
        with pytest.raises(EndpointRefused) as refused:
            await resolver.check(f"https://{host}/")
        with pytest.raises(EndpointRefused) as inside:
            await resolver.check("https://wiki.corp/")
        with pytest.raises(NameNotResolved):
            await resolver.resolve(host)
    finally:
        await resolver.close()

    assert answer.error is Failure.NAME_NOT_RESOLVED
    assert str(refused.value) == str(inside.value)
