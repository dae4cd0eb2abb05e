"""Items of STAC are valid by the published JSON Schemas, and pystac reads from them what was written.

The schemas of STAC itself are in the package of pystac. Those of two extensions are in the recordings of its own tests,
which only its source distributions have. That of `processing` is in no package, so pystac's reader of it has to do.
"""

import warnings
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson
import pystac
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pystac.errors import DeprecatedWarning
from pystac.extensions.file import FileExtension
from pystac.extensions.processing import ProcessingExtension
from pystac.extensions.version import VersionExtension
from pystac.validation.local_validator import get_local_schema_cache

from graph.domains.provenance_exports.stac_item import item_file, stac_item
from scripts.pypi_source import PypiSource
from tests.domains.provenance_exports.graphs import Graph, a_revision, graphs
from tests.domains.provenance_exports.test_stac_item import HREFS, TIMES

ITEM = "https://schemas.stacspec.org/v1.1.0/item-spec/json-schema/item.json"
RECORDINGS = (
    (
        PypiSource(
            "pystac-ext-file", "2.1.1", sha256="b2b72eedc7c77dd3ff4efe2ff57956046cd1e66ab28d53df0b693e56c37d1c96"
        ),
        "tests/cassettes/test_file/test_validate_item.yaml",
    ),
    (
        PypiSource(
            "pystac-ext-version", "1.2.1", sha256="7ae63cab8440ee7e2da19e2024ecd55a7affb022ba9384eefe5bd98ce85f21da"
        ),
        "tests/cassettes/test_version/test_all_links.yaml",
    ),
)


@cache
def _validators() -> list[Any]:
    published = get_local_schema_cache()
    registry = jsonschema_rs.Registry(list(published.items()))
    schemas = [published[ITEM], *(_recorded(source.fetched() / path) for source, path in RECORDINGS)]
    return [jsonschema_rs.validator_for(each, registry=registry, validate_formats=True) for each in schemas]


def _recorded(recording: Path) -> Any:
    """The schema that pystac's test received."""
    (interaction,) = yaml.safe_load(recording.read_text())["interactions"]
    return orjson.loads(interaction["response"]["body"]["string"])


def read_item(item: dict[str, Any]) -> pystac.Item:
    """The item as pystac reads it, once it is valid by each schema that is at hand."""
    for validator in _validators():
        validator.validate(item)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecatedWarning)  # which tells that the item is
        return pystac.Item.from_dict(item)


@given(graphs(), st.none() | st.tuples(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC))))
def test_every_item_is_valid_and_pystac_reads_what_was_written(
    graph: Graph, period: tuple[datetime, datetime] | None
) -> None:
    for revision in graph.revisions:
        run = next((run for run in graph.runs if revision.version in run.generated), None)

        item = read_item(stac_item(revision, run, period))

        processing, version = ProcessingExtension.ext(item), VersionExtension.ext(item)
        assert processing.level == revision.level
        assert processing.software == ({run.algorithm: run.version} if run and run.version else None)
        assert version.version == str(revision.number)
        assert bool(version.deprecated) == (revision.invalidated_at is not None)
        assert FileExtension.ext(item.assets["data"]).size == revision.size
        sources = [str(link.target) for link in item.get_links("derived_from")]
        assert sources == [item_file(source) for source in (run.used if run else [])]


def test_any_url_and_any_time_make_a_valid_item() -> None:
    for url, href in HREFS.items():
        assert read_item(stac_item(a_revision("rad:1.nc", url=url))).assets["data"].href == href
    for attributes, period, _ in TIMES:
        read_item(stac_item(a_revision("rad.nc", **attributes), period=period))
