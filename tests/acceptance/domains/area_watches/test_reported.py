"""What a watch of an area is told fits the JSON Schema of its type, as a validator of another project reads it."""

from jsonschema_rs import Draft202012Validator

from graph.domains.area_watches.reported import REPORTED
from tests.domains.area_watches.lookouts import REX, a_lookout
from tests.domains.sightings.in_store import sightings_of


async def test_payloads_fit_the_schema_of_their_type() -> None:
    async with a_lookout("sqlite") as lookout, sightings_of(lookout.database, lookout.clock) as ours:
        await lookout.watch()
        await ours.new(REX, area="Ridgecrest", lat=35.6225, lon=-117.6709, text="It shook.")
        await lookout.report(eventId="ci1")
        await lookout.report()
        await lookout.follower().catch_up()
        payloads = [event.payload for event in await lookout.events()]

    assert len(payloads) == 3
    for payload in payloads:
        Draft202012Validator(REPORTED.schema, validate_formats=True).validate(payload)
