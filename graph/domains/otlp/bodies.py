"""The formats of a body."""

from collections.abc import Callable, Mapping

from graph.core.errors import BadRequest
from graph.domains.otlp.formats import RequestFormat
from graph.domains.otlp.json_format import Json
from graph.domains.otlp.protobuf import Protobuf

FORMATS: Mapping[str, Callable[[], RequestFormat]] = {each.media_type: each for each in (Protobuf, Json)}


def format_of(content_type: str) -> RequestFormat:
    """The format of one body, by its header; BadRequest for any other."""
    if found := FORMATS.get(content_type.partition(";")[0].strip().lower()):
        return found()
    raise BadRequest(f"The body must be {' or '.join(FORMATS)}.", status=415)
