"""What another program writes by document 002 alone is served as ours, before and after it is adopted."""

import asyncio
from typing import Any

from boto3.dynamodb.conditions import Attr, Key

from graph.domains import DOMAINS
from graph.domains.sightings.entities import CHANGES_IN_ORDER, CONFIRMATION, CONFIRMER
from tests.bearers import bearer
from tests.domains.sightings.counted import tallies
from tests.domains.sightings.foreign import EXPIRES_S, NOW_S, ForeignSightings, a_sighting, new_table
from tests.service import Service
from tests.subscribers import event_stream

LISTED = "{ sightings(%s) { nodes { id sightingId category area areaName reportedAt expiresAt } } }"
BESIDE = """{ sightings(filter: {areas: ["downtown"]}) { nodes {
  text position { lat } confirmations own eventId freshness reporterTier
  confidence { total lifetime confirmations trust lifetimeSeconds }
} } }"""
ONE = "query ($id: ID!) { sighting(sightingId: $id) { sightingId } node(id: $id) { id } }"
CONFIRM = """mutation ($id: ID!) { confirmSighting(input: {sightingId: $id}) {
  confirmed sighting { sightingId confirmations expiresAt area } } }"""
REPORT = """mutation { reportSighting(input: {category: FIRE, lat: 1.001, lon: 2.001}) {
  sighting { sightingId } } }"""
TRENDING = "{ trending { category count sightings { nodes { sightingId } } } }"
HIDE = 'mutation ($id: ID!) { hideSighting(input: {sightingId: $id, reason: "spam"}) { deletedId } }'
PROFILE = "{ profile { tier reports streakDays sightings { nodes { sightingId own } } } }"
CHANGES = """subscription ($after: String) {
  sightings(after: $after) { kind node { sightingId area category } cursor }
}"""
AREAS = "{ areas { nodes { slug name lastExpiresAt sightings { nodes { sightingId } } } } }"
ABC = {
    "sightingId": "abc123",
    "category": "Sneakers",
    "area": "downtown",
    "areaName": "Downtown",
    "reportedAt": "2026-06-25T14:30:00.000Z",
    "expiresAt": "2026-06-25T15:00:00.000Z",
}


def listed(service: Service, arguments: str) -> list[dict[str, Any]]:
    """The sightings of a page."""
    nodes: list[dict[str, Any]] = service.ask(LISTED.replace("(%s)", arguments))["sightings"]["nodes"]
    return nodes


def ids(service: Service, arguments: str) -> list[str]:
    return [each["sightingId"] for each in listed(service, arguments)]


def test_the_documents_sighting_is_found_before_it_is_adopted(foreign: ForeignSightings) -> None:
    foreign.put(a_sighting())
    with foreign.served() as service:
        for area in ("Downtown", "downtown"):
            (node,) = listed(service, f'(filter: {{areas: ["{area}"]}})')
            assert {name: node[name] for name in ABC} == ABC
        assert ids(service, '(filter: {categories: ["Sneakers"]})') == ["abc123"]
        assert ids(service, '(filter: {areas: ["Harbour"]})') == ids(service, "(filter: {categories: [FIRE]})") == []
        by_id = {"sighting": {"sightingId": "abc123"}, "node": {"id": node["id"]}}
        assert service.ask(ONE, {"id": node["id"]}) == by_id
        left = (EXPIRES_S - NOW_S) / 1800
        assert service.ask(BESIDE)["sightings"]["nodes"] == [
            {
                "text": None,
                "position": None,
                "confirmations": 0,
                "own": False,
                "eventId": None,
                "freshness": "FRESH",
                "reporterTier": "BRONZE",
                "confidence": {
                    "total": round(left, 12),
                    "lifetime": left,
                    "confirmations": 0,
                    "trust": 0,
                    "lifetimeSeconds": 1800,
                },
            }
        ]
        foreign.clock.now = 1000 * EXPIRES_S
        assert listed(service, '(filter: {areas: ["Downtown"]})') == []
        assert service.ask(ONE, {"id": node["id"]}) == {"sighting": None, "node": None}


def test_a_setting_names_the_categories_that_lists_of_all_have_at_once(foreign: ForeignSightings) -> None:
    foreign.put(a_sighting(), a_sighting(category="FIRE", sighting_id="def456"))
    with foreign.served() as service:
        assert ids(service, "") == ["def456"]  # until the other's category has been seen
    with foreign.served(sighting_categories="Sneakers,Street Food") as service:
        assert ids(service, "") == ["def456", "abc123"]
        assert service.ask("{ sightingCategories }")["sightingCategories"][-2:] == ["Sneakers", "Street Food"]


def test_pages_go_through_the_ways_to_write_an_area_and_a_time(foreign: ForeignSightings) -> None:
    times = ["14:29:59Z", "14:30:00Z", "14:30:00.250Z", "14:30:00.500000+00:00", "14:30:01", "14:30:02Z"]
    areas = ["Downtown", "downtown", "DOWNTOWN"]
    foreign.put(
        *(
            a_sighting(areas[at % 2], reported_at=f"2026-06-25T{time}", sighting_id=f"s{at}")
            for at, time in enumerate(times)
        ),
        a_sighting("Uptown", sighting_id="elsewhere"),
    )
    query = """query ($first: Int, $after: String, $last: Int, $before: String) {
      sightings(filter: {areas: ["Downtown"]}, first: $first, after: $after, last: $last, before: $before) {
        nodes { sightingId } pageInfo { endCursor startCursor hasNextPage hasPreviousPage } } }"""
    expected = sorted(range(6), key=lambda at: times[at], reverse=True)
    with foreign.served() as service:
        for backward in (False, True):
            found = service.nodes(query, size=2, backward=backward)
            assert [each["sightingId"] for each in found] == [f"s{at}" for at in expected]


async def test_an_adopted_sighting_counts_and_is_found_everywhere(foreign: ForeignSightings) -> None:
    foreign.put(a_sighting(), a_sighting("Morgan  Hill", "FIRE", sighting_id="def456", userId="u_abc123"))
    await foreign.adopt()
    await foreign.adopt()  # once more changes nothing
    with foreign.served() as service:
        assert ids(service, "") == ["def456", "abc123"]
        trends = {each["category"]: each for each in service.ask(TRENDING)["trending"] if each["count"]}
        assert {name: each["count"] for name, each in trends.items()} == {"Sneakers": 1, "FIRE": 1}
        assert trends["Sneakers"]["sightings"]["nodes"] == [{"sightingId": "abc123"}]
        areas = {each["slug"]: each for each in service.ask(AREAS)["areas"]["nodes"]}
        assert {slug: (each["name"], each["sightings"]["nodes"]) for slug, each in areas.items()} == {
            "downtown": ("Downtown", [{"sightingId": "abc123"}]),
            "morgan-hill": ("Morgan  Hill", [{"sightingId": "def456"}]),
        }
        assert service.ask('{ sighting(sightingId: "abc123") { area } }') == {"sighting": {"area": "downtown"}}
        assert ids(service, '(filter: {areas: ["morgan-hill"]})') == ["def456"]
        headers = bearer(subject="u_abc123")
        answer = service.http.post("/graphql", json={"query": PROFILE}, headers=headers).json()
        assert answer["data"]["profile"] == {
            "tier": "BRONZE",
            "reports": 1,
            "streakDays": 1,
            "sightings": {"nodes": [{"sightingId": "def456", "own": True}]},
        }
        first = {"change": 1}
        async with event_stream(
            service.url, CHANGES, variables={"after": CHANGES_IN_ORDER.cursor_of(first)}, headers=bearer()
        ) as stream:
            assert await stream.block() == b":"
            change = (await stream.next_data())["sightings"]
        assert change["kind"] == "REPORTED"
        assert change["node"]["area"] in ("downtown", "morgan-hill")
        foreign.clock.now = 1000 * EXPIRES_S
        assert ids(service, "") == []
        assert sum(each["count"] for each in service.ask(TRENDING)["trending"]) == 0
        assert service.ask(AREAS)["areas"]["nodes"] == []


async def test_a_subscriber_learns_of_what_another_program_puts(dynamodb_endpoint: str) -> None:
    del dynamodb_endpoint
    foreign = new_table(stream=True)
    with foreign.served(DOMAINS) as service:
        async with event_stream(service.url, CHANGES, headers=bearer()) as stream:
            assert await stream.block() == b":"
            await asyncio.to_thread(foreign.put, a_sighting())
            change = (await stream.next_data())["sightings"]
    sighting = {"sightingId": "abc123", "area": "downtown", "category": "Sneakers"}
    assert (change["kind"], change["node"]) == ("REPORTED", sighting)


async def test_a_sighting_that_is_confirmed_here_is_adopted_first(foreign: ForeignSightings) -> None:
    foreign.put(a_sighting(confirmationCount=2, userId="u_1"))
    with foreign.served() as service:
        (node,) = listed(service, '(filter: {areas: ["Downtown"]})')
        answers = [service.ask(CONFIRM, {"id": node["id"]})["confirmSighting"] for _ in range(2)]
        assert [each["confirmed"] for each in answers] == [True, False]
        assert answers[0]["sighting"] == {
            "sightingId": "abc123",
            "confirmations": 3,
            "expiresAt": "2026-06-25T15:10:00.000Z",
            "area": "downtown",
        }
        assert service.ask('{ sighting(sightingId: "abc123") { confirmations } }') == {"sighting": {"confirmations": 3}}
        hidden = service.ask(HIDE, {"id": node["id"]})
        assert hidden == {"hideSighting": {"deletedId": node["id"]}}
        assert listed(service, '(filter: {areas: ["Downtown"]})') == []
    found = foreign.table.get_item(Key={"PK": "AREA#Downtown", "SK": "SIGHTING#2026-06-25T14:30:00Z#abc123"})["Item"]
    assert (found["confirmationCount"], found["expiresAt"]) == (3, NOW_S)


async def test_a_confirmation_of_another_program_counts_in_all_items_of_a_sighting(foreign: ForeignSightings) -> None:
    async with foreign.store() as ours:
        sighting = await ours.new("anna", "FIRE", area="Downtown")
        await ours.confirm("ben", sighting)
    key = {"PK": "AREA#downtown", "SK": f"SIGHTING#2026-06-25T14:40:00Z#{sighting.sighting_id}"}
    ends = sighting.item["expiresAt"] + 600
    found = foreign.table.query(  # the document's way
        KeyConditionExpression=Key("PK").eq("AREA#downtown") & Key("SK").begins_with("SIGHTING#"),
        FilterExpression=Attr("sightingId").eq(sighting.sighting_id),
    )["Items"]
    assert [{name: each[name] for name in key} for each in found] == [key]
    foreign.table.update_item(
        Key=key,
        UpdateExpression="ADD confirmationCount :one SET expiresAt = :ends",
        ExpressionAttributeValues={":one": 1, ":ends": ends},
    )
    foreign.put(
        {
            "PK": f"SIGHTING#{sighting.sighting_id}",
            "SK": "CONFIRMATION#2026-06-25T14:41:00Z#V1StGXR8_Z5jdHi6B-myT",
            "userId": "cara",
            "expiresAt": ends,
        }
    )
    await foreign.adopt()
    await foreign.adopt()
    async with foreign.store() as ours:
        one = await ours.one(sighting)
        assert one is not None
        assert (one.confirmations, one.item["expiresAt"]) == (2, ends)
        assert await tallies(ours) == {("FIRE", ends, "hour14"): 1}
        assert (await ours.profile("anna")).confirmations_received == 2
        for entity, number in ((CONFIRMATION, 2), (CONFIRMER, 2)):
            assert [item["expiresAt"] for item in await ours.items(entity)] == [ends] * number
        assert not (await ours.confirm("cara", sighting)).confirmed
        again = (await ours.confirm("dora", sighting)).sighting
        assert again.confirmations == 3
        assert await ours.changes.sequence.latest() == 4


async def test_a_sightings_tier_is_that_of_its_reporters_profile(foreign: ForeignSightings) -> None:
    foreign.put(
        {"PK": "USER#u_abc123", "SK": "PROFILE", "trustTier": "gold", "streak": 3},
        {"PK": "USER#u_2", "SK": "PROFILE", "trustTier": "unheard of", "since": "2026-01-01"},
        a_sighting(userId="u_abc123"),
        a_sighting(userId="u_2", sighting_id="def456"),
        a_sighting(userId="u_3", sighting_id="ghi789", reporterTier="silver"),
    )
    query = (
        """{ sightings(filter: {areas: ["Downtown"]}) { nodes { sightingId reporterTier confidence { trust } } } }"""
    )
    expected = {"abc123": ("GOLD", 0.1), "def456": ("BRONZE", 0), "ghi789": ("SILVER", 0.05)}
    for adopted in (False, True):
        if adopted:
            await foreign.adopt()
        with foreign.served() as service:
            nodes = service.ask(query)["sightings"]["nodes"]
            found = {each["sightingId"]: (each["reporterTier"], each["confidence"]["trust"]) for each in nodes}
            assert found == expected
            headers = bearer(subject="u_abc123")
            answer = service.http.post("/graphql", json={"query": "{ profile { tier reports } }"}, headers=headers)
            assert answer.json()["data"]["profile"] == {"tier": "GOLD", "reports": int(adopted)}


async def test_a_sighting_that_is_put_again_keeps_its_place_and_stays_hidden(foreign: ForeignSightings) -> None:
    foreign.put(a_sighting())
    await foreign.adopt()
    foreign.put(a_sighting(confirmationCount=1))
    await foreign.adopt()
    await foreign.adopt()
    async with foreign.store() as ours:
        assert (await ours.sightings.by_id(["abc123"]))["abc123"].confirmations == 1
        assert await tallies(ours) == {("Sneakers", EXPIRES_S, "hour14"): 1}
        assert await ours.changes.sequence.latest() == 2
        await ours.hide("moderator", "abc123", "spam")
    foreign.put(a_sighting())
    await foreign.adopt()
    async with foreign.store() as ours:
        assert await ours.ids(areas=("Downtown",)) == await ours.ids() == []


def test_sightings_near_a_point_are_found_beside_those_of_other_programs(foreign: ForeignSightings) -> None:
    foreign.put(a_sighting(lat=1, lon=2))  # nobody has rounded its position
    with foreign.served() as service:
        near = "(filter: {near: {lat: 1, lon: 2, radiusKm: 10}})"
        assert ids(service, near) == []
        reported = service.ask(REPORT)["reportSighting"]["sighting"]["sightingId"]
        assert ids(service, near) == [reported]


def test_times_are_written_alike_and_are_places_of_a_page(foreign: ForeignSightings) -> None:
    times = {
        "2026-06-25T14:30:00+05:00": "2026-06-25T09:30:00.000Z",
        "2026-06-25x14:29:00Z": "2026-06-25T14:29:00.000Z",
        "2026-W26-4T14:29:00Z": "2026-06-25T14:29:00.000Z",
        "9999-12-31T23:59:59Z": "9999-12-31T23:59:59.000Z",
    }
    foreign.put(*(a_sighting(reported_at=time, sighting_id=time[:10]) for time in times))
    page = """query ($after: String) { sightings(filter: {areas: ["Downtown"]}, first: 1, after: $after) {
      nodes { reportedAt } pageInfo { hasNextPage endCursor } } }"""
    with foreign.served() as service:
        found = [each["reportedAt"] for each in service.nodes(page)]
        assert found == [times[time] for time in sorted(times, reverse=True)]


async def test_a_user_whose_confirmation_is_adopted_first_confirms_no_second_time(foreign: ForeignSightings) -> None:
    confirmation = {"PK": "SIGHTING#abc123", "SK": "CONFIRMATION#2026-06-25T14:41:00Z#V1StGXR8"}
    foreign.put({**confirmation, "userId": "cara", "expiresAt": EXPIRES_S})
    await foreign.adopt()
    foreign.put(a_sighting(confirmationCount=1))
    await foreign.adopt()
    async with foreign.store() as ours:
        sighting = (await ours.sightings.by_id(["abc123"]))["abc123"]
        assert not (await ours.confirm("cara", sighting)).confirmed
        assert (await ours.confirm("dora", sighting)).sighting.confirmations == 2
