"""Checks STAC items by the published JSON Schemas, without a network.

Those of STAC itself are in the package of pystac. Those of two extensions are in the recordings of its own tests, which
only its source distributions have. That of `processing` is in no package, so pystac's reader of it has to do.
"""

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson
import pystac
import yaml
from pystac.errors import DeprecatedWarning
from pystac.extensions.file import FileExtension
from pystac.extensions.processing import ProcessingExtension
from pystac.extensions.version import VersionExtension
from pystac.validation.local_validator import get_local_schema_cache

from scripts.pypi_source import PypiSource

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


def processing(item: pystac.Item) -> ProcessingExtension[pystac.Item]:
    """What the extension `processing` tells of an item."""
    return ProcessingExtension.ext(item)


def file(item: pystac.Item) -> FileExtension[pystac.Asset]:
    """What the extension `file` tells of the data of an item."""
    return FileExtension.ext(item.assets["data"])


def version(item: pystac.Item) -> VersionExtension[pystac.Item]:
    """What the extension `version` tells of an item."""
    return VersionExtension.ext(item)
