"""Broken items that another program writes into the table of sightings are left out, and break nothing beside them."""

from tests.domains.sightings.foreign import EXPIRES_S, ForeignSightings, a_sighting

TRENDING = "{ trending { category count } }"


async def test_a_broken_sighting_is_left_out_and_breaks_nothing_beside_it(foreign: ForeignSightings) -> None:
    broken = [
        a_sighting(sighting_id="a", expiresAt="soon"),
        a_sighting(sighting_id="b", confirmationCount="many"),
        a_sighting(sighting_id="b2", confirmationCount=2**31),
        a_sighting(sighting_id="c", reported_at="yesterday"),
        a_sighting(sighting_id="d", expiresAt=1000 * EXPIRES_S),
        {name: value for name, value in a_sighting(sighting_id="e").items() if name != "expiresAt"},
        a_sighting(sighting_id="e\n"),  # no cursor holds it
        {"PK": "SIGHTING#f", "SK": "SIGHTING"},
        a_sighting(sighting_id="f"),  # whose place by its id is taken
    ]
    foreign.put(*broken, a_sighting())
    await foreign.adopt()
    with foreign.served() as service:
        for arguments in ('(filter: {areas: ["downtown"]})', ""):
            nodes = service.ask(f"{{ sightings{arguments} {{ nodes {{ sightingId confirmations }} }} }}")["sightings"][
                "nodes"
            ]
            assert nodes == [{"sightingId": "f", "confirmations": 0}, {"sightingId": "abc123", "confirmations": 0}]
        counts = {each["category"]: each["count"] for each in service.ask(TRENDING)["trending"]}
        assert counts["Sneakers"] == 1


async def test_a_user_with_a_broken_profile_reports_and_has_sightings_that_are_adopted(
    foreign: ForeignSightings,
) -> None:
    broken = {"PK": "USER#u_abc123", "SK": "PROFILE", "reports": "many", "since": 5}
    foreign.put(broken, a_sighting(userId="u_abc123"), a_sighting(sighting_id="def456", userId="u_abc123"))
    await foreign.adopt()
    async with foreign.store() as ours:
        assert (await ours.sightings.by_id(["abc123", "def456"])).keys() == {"abc123", "def456"}
        sighting = await ours.new("u_abc123", "FIRE")
        assert (await ours.one(sighting)) is not None
    assert foreign.table.get_item(Key={"PK": "USER#u_abc123", "SK": "PROFILE"})["Item"] == broken


async def test_a_text_where_a_profile_has_a_number_keeps_nobody_from_confirming(foreign: ForeignSightings) -> None:
    profiles = [
        {"PK": f"USER#{user}", "SK": "PROFILE", name: "many"}
        for user, name in (("u_abc123", "confirmationsReceived"), ("ada", "confirmations"))
    ]
    foreign.put(*profiles, a_sighting(userId="u_abc123"))
    await foreign.adopt()
    async with foreign.store() as ours:
        for user in ("ada", "bea"):
            confirmed = await ours.confirming.confirm(user, "abc123")
            assert confirmed.confirmed
        assert confirmed.sighting.confirmations == 2
    for profile in profiles:
        assert foreign.table.get_item(Key={name: profile[name] for name in ("PK", "SK")})["Item"] == profile
