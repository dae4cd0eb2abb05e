"""What a watch of an area is told fits the JSON Schema of its type, as a validator of another project reads it."""

from jsonschema_rs import Draft202012Validator, meta

from graph.domains.sightings.watching.reported import REPORTED
from tests.domains.sightings.in_store import sightings_of
from tests.domains.sightings.watching.lookouts import REX, a_lookout


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


def test_the_example_of_the_type_is_what_its_schema_says_and_nothing_else() -> None:
    assert meta.is_valid(REPORTED.schema)
    validator = Draft202012Validator(REPORTED.schema, validate_formats=True)
    validator.validate(REPORTED.example)
    for part in REPORTED.example:
        assert not validator.is_valid({**REPORTED.example, part: {**REPORTED.example[part], "userId": REX}})
        for name in REPORTED.example[part]:
            less = {key: value for key, value in REPORTED.example[part].items() if key != name}
            assert not validator.is_valid({**REPORTED.example, part: less})
