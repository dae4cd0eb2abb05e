"""The bodies of payloads that are made here."""

import json
import zlib
from hashlib import sha256
from typing import Any

import pytest

from graph.domains.earthquakes.payloads.model import json_body


@pytest.mark.parametrize("given", [[{"event_id": "us1", "place": "Kaikōura"}], [{"place": "half: \ud800"}]])
def test_a_body_is_the_json_of_its_value_even_with_half_a_surrogate_pair(given: Any) -> None:
    body = json_body(given)

    text = zlib.decompress(body.gzipped(), wbits=zlib.MAX_WBITS | 16)
    assert json.loads(text) == given
    assert (body.size, body.sha256) == (len(text), sha256(text).hexdigest())
