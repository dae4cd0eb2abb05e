"""Two users: for whatever names something of another one, a caller gets what it gets for something that is not there.

The documents are made of the schema, so they cover fields, arguments and types that are added later.
"""

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest
from graphql import GraphQLObjectType, get_named_type

from graph.access.callers import Scope
from graph.api.relay import global_id
from graph.domains.triggers import DOMAIN
from graph.domains.triggers.model import ENDPOINTS, INBOX, WATCHES, delivery_key, event_key
from graph.domains.triggers.scopes import TRIGGERS_READ, TRIGGERS_WRITE
from graph.store.location import StoreLocation
from tests.bearers import bearer
from tests.domains.entities import ENTITIES
from tests.domains.triggers.in_store import ANNA, URL
from tests.domains.triggers.schema.conftest import quiet_settings
from tests.domains.triggers.schema.probes import ROOTS, TYPES, Root, selection
from tests.service import Service, running

NO_UUID = "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"
NO_TIME = "2023-11-14T10:00:00.123456Z"
NOBODY = "nobody"
ORDERINGS = {"triggerEvents": INBOX, "triggerEndpoints": ENDPOINTS, "watches": WATCHES}
NODES = {node.type.__name__ for node in DOMAIN.nodes}

_users = count()


@dataclass
class Named:
    """What names things: those of Anna, or things that are not there."""

    user_id: str
    endpoint_id: str
    watch_id: str
    event_id: str
    timestamp: str
    idempotency_key: str
    values: dict[str, Any] = field(init=False)  # by the names of arguments and input fields

    def __post_init__(self) -> None:
        self.values = {
            "endpointId": self.endpoint_id,
            "watchId": self.watch_id,
            "ids": [self.nodes["TriggerEvent"]],
            "idempotencyKey": self.idempotency_key,
        }

    @property
    def event_key(self) -> str:
        return event_key(self.timestamp, self.event_id)

    @property
    def delivery_key(self) -> str:
        return delivery_key(self.endpoint_id, 1)

    @property
    def nodes(self) -> dict[str, str]:
        """Global ids by type."""
        keys = {
            "TriggerEvent": self.event_key,
            "TriggerEndpoint": self.endpoint_id,
            "Delivery": self.delivery_key,
            "Watch": self.watch_id,
        }
        return {name: global_id(name, key) for name, key in keys.items()}

    def cursor(self, root: str) -> Any:
        """A cursor of a root field's connection."""
        if root == "deliveries":
            return 1
        names = {
            "user_id": self.user_id,
            "endpoint_id": self.endpoint_id,
            "watch_id": self.watch_id,
            "event_id": self.event_id,
            "timestamp": self.timestamp,
        }
        return ORDERINGS[root].cursor_of(names)


NOTHING = Named(NOBODY, NO_UUID, NO_UUID, NO_UUID, NO_TIME, "nobody's key")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("two") / "users.db"


@pytest.fixture(scope="module")
def service(store: Path) -> Iterator[Service]:
    """A service that delivers nothing, so that nothing changes by itself."""
    with running(quiet_settings(store)) as service:
        yield service


@pytest.fixture(scope="module")
def annas(service: Service) -> Named:
    """What Anna has: one of everything."""

    def ask(document: str) -> Any:
        (answer,) = body_of(service, document, ANNA)["data"].values()
        return answer

    endpoint = ask(f'mutation {{ createEndpoint(input: {{url: "{URL}"}}) {{ endpoint {{ endpointId }} }} }}')[
        "endpoint"
    ]
    watch = ask('mutation { createWatch(input: {name: "All"}) { watch { watchId } } }')["watch"]
    event = ask(
        'mutation { createTriggerEvent(input: {type: "order.completed", payload: {n: 1}, idempotencyKey: "k"}) '
        "{ triggerEvent { eventId timestamp deliveries { nodes { sequence } } } } }"
    )["triggerEvent"]
    assert event["deliveries"]["nodes"] == [{"sequence": 1}]
    return Named(ANNA, endpoint["endpointId"], watch["watchId"], event["eventId"], event["timestamp"], "k")


def body_of(service: Service, document: str, user_id: str | None, *scopes: Scope) -> dict[str, Any]:
    """The body of an answer to a user; None for a caller without a token."""
    headers = {} if user_id is None else bearer(*scopes, subject=user_id)
    is_subscription = document.startswith("subscription")
    accept = {"Accept": "text/event-stream"} if is_subscription else {}
    service.http.headers.pop("Authorization", None)
    answer = service.http.post("/graphql", json={"query": document}, headers={**headers, **accept})
    if is_subscription and answer.headers["Content-Type"].startswith("text/event-stream"):
        (data,) = re.findall(r"^data: (\{.*\})$", answer.text, re.MULTILINE)
        return dict(orjson.loads(data))
    return dict(answer.json())


def a_new_user() -> str:
    return f"ben {next(_users)}"


# What differs between two answers about nothing: ids, times, secrets, and what was given.
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+Z")
_SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]+")
_ENCODED = re.compile(r"[A-Za-z0-9_-]{20,}")


def masked(body: Mapping[str, Any]) -> str:
    """A body without ids, times, secrets and cursors."""
    text = orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()
    for pattern in (_UUID, _TIME, _SECRET):
        text = pattern.sub("…", text)
    return _ENCODED.sub(lambda found: "…" if _is_encoded(found.group()) else found.group(), text)


def _is_encoded(text: str) -> bool:
    try:
        return b":" in urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return False


async def everything_of(user_id: str, store: Path) -> list[Any]:
    """All stored items that belong to a user."""
    async with StoreLocation.of(f"sqlite:///{store}").open(ENTITIES) as database:
        items = [(entity.name, item) for entity in ENTITIES async for item in database.scan(entity)]
    found = [each for each in items if each[1].get("user_id") == user_id]
    assert {name for name, _ in found} >= {"TRIGGER_EVENT", "ENDPOINT", "QUEUE", "DELIVERY", "WATCH", "IDEMPOTENCY_KEY"}
    return sorted(found, key=repr)


async def assert_equal(service: Service, store: Path, annas: str, nothing: str) -> None:
    """Ben gets the same answer to both documents, and nothing of Anna changes."""
    before = await everything_of(ANNA, store)
    got, expected = (body_of(service, document, a_new_user()) for document in (annas, nothing))
    assert masked(got) == masked(expected)
    assert await everything_of(ANNA, store) == before


@pytest.mark.parametrize("name", [name for name, root in ROOTS.items() if root.operation != "subscription"])
async def test_what_names_something_of_another_user_names_nothing(
    name: str, service: Service, store: Path, annas: Named
) -> None:
    root = ROOTS[name]
    await assert_equal(service, store, root.document(annas.values), root.document(NOTHING.values))


@pytest.mark.parametrize(("name", "argument"), [(name, each) for name, root in ROOTS.items() for each in root.cursors])
async def test_a_cursor_of_another_user_is_one_of_nothing(
    name: str, argument: str, service: Service, store: Path, annas: Named
) -> None:
    root = ROOTS[name]
    size = {"before": {"last": 2}}.get(argument, {})

    def document(named: Named) -> str:
        return root.document({**named.values, argument: named.cursor(root.name), **size})

    await assert_equal(service, store, document(annas), document(NOTHING))
    code = "NOT_FOUND" if root.name == "deliveries" else "INVALID_CURSOR"
    assert codes(body_of(service, document(annas), a_new_user())) == [code]


@pytest.mark.parametrize("name", sorted(NODES))
async def test_a_node_of_another_user_is_no_node(name: str, service: Service, store: Path, annas: Named) -> None:
    def documents(named: Named) -> list[str]:
        inner = f"__typename ... on {name} {selection(TYPES[name])}"
        some = f'{{ nodes(ids: ["{named.nodes[name]}"]) {{ {inner} }} }}'
        return [f'{{ node(id: "{named.nodes[name]}") {{ {inner} }} }}', some]

    for theirs, nothing in zip(documents(annas), documents(NOTHING), strict=True):
        assert body_of(service, theirs, ANNA)["data"] not in ({"node": None}, {"nodes": [None]})
        assert body_of(service, theirs, a_new_user()) in ({"data": {"node": None}}, {"data": {"nodes": [None]}})
        await assert_equal(service, store, theirs, nothing)


def nested() -> set[tuple[str, str]]:
    """Fields of the triggers' types that take arguments."""
    return {
        (name, each)
        for name, of in TYPES.items()
        if isinstance(of, GraphQLObjectType)
        for each, field in of.fields.items()
        if field.args
    }


async def test_a_cursor_of_another_users_deliveries_is_refused_for_ones_own_event(
    service: Service, store: Path, annas: Named
) -> None:
    assert nested() == {("TriggerEvent", "deliveries")}

    def document(named: Named, argument: str) -> str:
        cursor = f'{argument}: "{named.delivery_key}"'
        event = '{type: "user.created", payload: {n: 1}}'
        selected = f"triggerEvent {{ deliveries({cursor}) {{ nodes {{ id }} }} }}"
        return f"mutation {{ createTriggerEvent(input: {event}) {{ {selected} }} }}"

    for argument in ("after", "before"):
        await assert_equal(service, store, document(annas, argument), document(NOTHING, argument))
        assert codes(body_of(service, document(annas, argument), a_new_user())) == ["INVALID_CURSOR"]


def test_anna_finds_all_that_others_do_not(service: Service, annas: Named) -> None:
    """So that the other tests do not hold only since nothing is there."""
    for name, root in ROOTS.items():
        if root.operation == "query":
            answer = body_of(service, root.document(annas.values), ANNA)
            assert answer.keys() == {"data"}, name
            (found,) = answer["data"].values()
            assert found if isinstance(found, list) else found["nodes"], name


def codes(body: Mapping[str, Any]) -> list[str]:
    return [error["extensions"]["code"] for error in body["errors"]]


@pytest.mark.parametrize("name", ROOTS)
def test_each_root_field_needs_a_token_with_its_scope(name: str, service: Service, annas: Named) -> None:
    root = ROOTS[name]
    wanted, other = TRIGGERS_READ, TRIGGERS_WRITE
    if root.operation == "mutation":
        wanted, other = other, wanted
    document = root.document({**annas.values, **_refused_cursor(root)})

    assert codes(body_of(service, document, None)) == ["UNAUTHENTICATED"]
    assert codes(body_of(service, document, a_new_user(), other)) == ["FORBIDDEN"]
    got = body_of(service, document, a_new_user(), wanted)
    assert "errors" not in got or codes(got)[0] not in ("UNAUTHENTICATED", "FORBIDDEN")


def _refused_cursor(root: Root) -> dict[str, str]:
    """A cursor that ends a subscription at once."""
    return {"after": "x"} if root.operation == "subscription" else {}


@pytest.mark.parametrize("name", sorted(NODES))
def test_a_node_needs_a_token_with_the_scope_to_read(name: str, service: Service, annas: Named) -> None:
    document = f'{{ node(id: "{annas.nodes[name]}") {{ id }} }}'
    assert codes(body_of(service, document, None)) == ["UNAUTHENTICATED"]
    assert codes(body_of(service, document, ANNA, TRIGGERS_WRITE)) == ["FORBIDDEN"]
    assert body_of(service, document, ANNA, TRIGGERS_READ)["data"] == {"node": {"id": annas.nodes[name]}}


def test_every_type_with_ids_is_a_node_that_is_tested() -> None:
    node = {name for name, of in TYPES.items() if isinstance(of, GraphQLObjectType) and "id" in of.fields}
    assert node == NODES == set(NOTHING.nodes)
    assert all(get_named_type(TYPES[name].fields["id"].type).name == "ID" for name in node)  # type: ignore[attr-defined]
