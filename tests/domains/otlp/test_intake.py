"""The memory that requests in progress take is bounded."""

from collections.abc import AsyncIterator

import pytest

from graph.core.errors import BadRequest, Overloaded
from graph.domains.otlp.bodies import FORMATS
from graph.domains.otlp.intake import LogIntake
from graph.domains.service_logs.entities import ENTITIES
from graph.domains.service_logs.model import WriteReport
from graph.domains.service_logs.services import LoggingServices
from graph.domains.service_logs.settings import ServiceLogSettings
from graph.domains.service_logs.writing import LogWriter
from graph.observability.metrics import Metrics
from tests.domains.otlp.messages import PROTOBUF, record, request
from tests.store.engines import empty_database
from tests.store.samples import HeldClock

FORMAT = FORMATS[PROTOBUF]()
BODY = request(*[record()] * 10).SerializeToString()  # takes some 11 kB on its way to the store


@pytest.fixture
async def intake() -> AsyncIterator[LogIntake]:
    """An intake with room for one such request, but not for two."""
    clock = HeldClock()
    async with empty_database("sqlite", ENTITIES, clock=clock) as database:
        services = LoggingServices(database, clock, hot=(), most=10)
        writer = LogWriter(database, services, ServiceLogSettings(), clock, Metrics())
        yield LogIntake(writer, clock, arriving=20_000, working=20_000)


async def free(records: int) -> None:
    """Charge nothing."""


async def chunks(*given: bytes) -> AsyncIterator[bytes]:
    """A body in chunks."""
    for each in given:
        yield each


async def take(intake: LogIntake, body: bytes = BODY) -> WriteReport:
    return await intake.take(FORMAT, body, free, is_gzip=False)


async def test_a_request_that_finds_no_room_is_refused_until_others_have_ended(intake: LogIntake) -> None:
    padded = BODY + b"\x7a\xa0\x1f" + bytes(4000)  # with a field that is passed over
    refused: list[Overloaded] = []

    async def meanwhile(records: int) -> None:
        with pytest.raises(Overloaded) as caught:
            await take(intake, padded)
        refused.append(caught.value)

    report = await intake.take(FORMAT, padded, meanwhile, is_gzip=False)

    assert report.accepted == 10
    assert [error.status for error in refused] == [503]
    assert (await take(intake)).skipped == 10


async def test_a_request_that_never_finds_room_is_too_large(intake: LogIntake) -> None:
    with pytest.raises(BadRequest) as caught:
        await take(intake, BODY * 2)

    assert caught.value.status == 413
    assert (await take(intake)).accepted == 10


async def test_attributes_of_a_resource_count_for_each_record(intake: LogIntake) -> None:
    many = request(*[record()] * 10, resource={str(each): each for each in range(100)})

    with pytest.raises(BadRequest) as caught:
        await take(intake, many.SerializeToString())
    assert caught.value.status == 413


async def test_bodies_that_arrive_have_room_of_their_own(intake: LogIntake) -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield bytes(15_000)
        with pytest.raises(Overloaded):
            await intake.receive(chunks(bytes(4_000), bytes(4_000)), FORMAT.most_bytes)
        assert (await take(intake)).accepted == 10
        yield bytes(5_000)

    assert await intake.receive(slow(), FORMAT.most_bytes) == bytes(20_000)
    assert await intake.receive(chunks(b"a", b"", b"b"), FORMAT.most_bytes) == b"ab"
