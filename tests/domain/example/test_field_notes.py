"""A note is written and read by the whole service, in this process."""

from pathlib import Path

from starlette.testclient import TestClient

from graph.access.authentication import shared_secret
from graph.app import create_app
from graph.domain import Scope
from graph.domains import installed
from graph.opening import read_settings

WRITE = 'mutation { writeFieldNote(input: {area: "Napa", rating: 5, text: "Lamps swung."}) { note { text } } }'


def test_a_note_is_written_and_read(tmp_path: Path) -> None:
    settings = read_settings(installed(), store=f"sqlite:///{tmp_path}/notes.db")
    token = shared_secret(settings).issue("anna", [Scope("notes:write")], 60)
    with TestClient(create_app(settings)) as client:
        assert client.post("/graphql", json={"query": WRITE}).json()["errors"][0]["message"]
        written = client.post("/graphql", json={"query": WRITE}, headers={"Authorization": f"Bearer {token}"})
        read = client.post("/graphql", json={"query": "{ fieldNotes { nodes { text } } }"})

    assert written.json()["data"]["writeFieldNote"]["note"] == {"text": "Lamps swung."}
    assert read.json()["data"]["fieldNotes"]["nodes"] == [{"text": "Lamps swung."}]
