"""The reference of a domain: its settings, scopes and items as tables of Markdown, read from what it declares.

The tables in `docs/` have the same rows; tests compare them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graph.domain import Domain
from graph.settings import SettingsPart
from graph.store.attributes import Attribute, JsonDocument, Real, Text, Truth
from graph.store.design import TableDesign

Row = tuple[str, ...]


def reference(domain: Domain) -> str:
    """The tables of a domain, separated by empty lines."""
    tables: list[Sequence[Row]] = []
    if domain.settings:
        head = ("variable", "option", "default", "what it sets")
        options = {str(option.name): option.opts[0] for option in domain.options}
        tables.append([head, *setting_rows(domain.settings, options)])
    if domain.scopes:
        tables.append([("scope",), *((f"`{scope}`",) for scope in domain.scopes)])
    if designs := dict.fromkeys(entity.table for entity in domain.entities):
        tables.append([CONFIGURATION, *map(configuration_row, designs)])
    for entity in domain.entities:
        keys = [
            (f"`{template.key.name}`", f"key, `{template.source}`")
            for both in entity.templates.values()
            for template in both
        ]
        attributes = [(f"`{each.name}`", in_words(each)) for each in entity.attributes]
        tables.append([(f"attribute of {entity.name} in `{entity.table.name}`", "type"), *keys, *attributes])
    return "\n".join("".join(map(markdown, [head, ("---",) * len(head), *rows])) for head, *rows in tables)


def markdown(row: Row) -> str:
    """A line of a table."""
    return f"{''.join(f'| {cell} ' if cell else '| ' for cell in row)}|\n"


def setting_rows(settings: type[SettingsPart], options: Mapping[str, str]) -> Iterator[Row]:
    """For each setting its variable, the option of `serve` by its name, the default and the description."""
    for name, setting in settings.model_fields.items():
        option = f"`{options[name]}`" if name in options else ""
        yield f"`GRAPH_{name.upper()}`", option, f"`{_as_variable(setting.default)}`", str(setting.description)


CONFIGURATION = ("table", "billing", "key", "expiry", "stream", "recovery", "deletion protection", "alarms")


def configuration_row(design: TableDesign) -> Row:
    """The configuration of a table on DynamoDB, in the order of `CONFIGURATION`."""
    switches = [("no", "yes")[on] for on in (design.stream, design.recovery, design.protection)]
    expiry = f"`{design.ttl}`" if design.ttl else "none"
    alarms = "; ".join(map(str, design.alarms)) or "none"
    return f"`{design.name}`", str(design.billing), design.encryption, expiry, *switches, alarms


def _as_variable(default: object) -> str:
    """A default as it is written in a variable."""
    if isinstance(default, tuple):
        return ",".join(map(str, default)) or "none"
    return "none" if default is None else json.dumps(default).strip('"').removesuffix(".0")


def in_words(attribute: Attribute) -> str:
    """What an attribute may hold: its type, bounds and unit, and whether it may be absent."""
    return f"{', '.join(filter(None, [*_bounded(attribute), attribute.unit]))}{'; optional' * attribute.optional}"


def _bounded(attribute: Any) -> Iterator[str]:
    """The type of an attribute and its bounds."""
    if isinstance(attribute, Text):
        yield "text"
        yield f"at most {attribute.longest:,} characters" if attribute.longest else ""
    elif isinstance(attribute, Truth | JsonDocument):
        yield "true or false" if isinstance(attribute, Truth) else "list or mapping"
    else:
        ends = {"from": attribute.least, "to": attribute.greatest}
        words = [f"{word} {end:,}".removesuffix(".0") for word, end in ends.items() if end is not None]
        yield " ".join(["number" if isinstance(attribute, Real) else "whole number", *words])
