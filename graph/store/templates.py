"""Key templates: `DAY#{dayBucket}` makes a key from attributes, and reads them back from it.

A template is text with the names of attributes in braces. The template of a number key is one
attribute and nothing else.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import Formatter
from typing import Any

from graph.store.attributes import PLAIN, UTC_TIME, Attribute, Real, Text, UtcTime, Whole
from graph.store.design import KeyAttribute
from graph.store.values import InvalidItem

PARTITION_KEY_BYTES = 2048
SORT_KEY_BYTES = 1024
NUMBER_BYTES, CHARACTER_BYTES = 21, 4  # the most that a number, or a character, takes
LAST = "\U0010ffff"  # sorts after every other character


@dataclass(frozen=True)
class KeyTemplate:
    """The template of one key."""

    key: KeyAttribute
    source: str
    literals: tuple[str, ...]  # the text before each field, and the text after the last one
    fields: tuple[Attribute, ...]
    most_bytes: int
    pattern: re.Pattern[str]  # matches every key of the template, with a group for each field

    @classmethod
    def of(cls, key: KeyAttribute, source: str, attributes: Mapping[str, Attribute], most_bytes: int) -> "KeyTemplate":
        """Parse a template. Raises ValueError with the reason."""
        literals, fields = [""], list[Attribute]()
        for literal, name, spec, conversion in Formatter().parse(source):
            literals[-1] += literal
            if name is None:
                continue
            if name not in attributes or spec or conversion:
                raise ValueError(f"`{source}` names `{name}`, which is no attribute")
            fields.append(attributes[name])
            literals.append("")
        template = cls(key, source, tuple(literals), tuple(fields), most_bytes, _pattern(literals, fields))
        if key.type == "N" and not (literals == ["", ""] and isinstance(fields[0], Whole | Real)):
            raise ValueError(f"`{source}` is no number, as `{key.name}` is")
        if any(not literal for literal in literals[1:-1]):
            raise ValueError(f"`{source}` has nothing between two attributes")
        return template

    @cached_property
    def is_always_valid(self) -> bool:
        """Whether all values within the attributes' bounds make a valid key."""
        if self.key.type == "N":
            return True
        longest = sum(len(literal) * CHARACTER_BYTES for literal in self.literals)
        for each in self.fields:
            if isinstance(each, Text) and each.longest is not None:
                longest += each.longest * CHARACTER_BYTES
            elif isinstance(each, Whole) and not each.may_exceed_digits:
                longest += NUMBER_BYTES
            else:
                return False
        is_never_empty = any(self.literals) or any(isinstance(each, Text) and each.shortest for each in self.fields)
        return is_never_empty and longest <= self.most_bytes

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes that it names, in order."""
        return tuple(field.name for field in self.fields)

    def render(self, values: Sequence[Any]) -> Any:
        """The key with these values of its fields.

        Raises:
            InvalidItem: A value is missing or cannot be part of a key.
        """
        if len(values) != len(self.fields):
            raise InvalidItem(f"`{self.source}` takes {len(self.fields)} values, not {len(values)}")
        if self.key.type == "N":
            (value,) = values
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InvalidItem(f"`{self.names[0]}` must be a number")
            return value
        text = self.literals[0]
        for field, value, literal in zip(self.fields, values, self.literals[1:], strict=True):
            text += field.text(value) + literal
        return self._checked(text)

    def prefix(self, values: Sequence[Any]) -> Any:
        """The beginning of all keys with these values of the first fields; with values of all fields, the key.

        Raises:
            InvalidItem: There are more values than fields, or one has no place in the order of keys.
        """
        if len(values) > len(self.fields):
            raise InvalidItem(f"`{self.source}` is bounded by at most {len(self.fields)} values, not {len(values)}")
        followed = [each for each in zip(self.fields, values, self.literals[1:], strict=False) if each[2]]
        for field, value, _ in followed:
            field.check(value)  # its bounds keep the order of keys that go on behind it
        if len(values) == len(self.fields):
            return self.render(values)
        return self.literals[0] + "".join([field.text(value) + literal for field, value, literal in followed])

    def _checked(self, text: str) -> str:
        if not text:
            raise InvalidItem(f"`{self.key.name}` must be a text that is not empty")
        if len(text) * 4 > self.most_bytes and len(text.encode(errors="surrogatepass")) > self.most_bytes:
            raise InvalidItem(f"`{self.key.name}` has more than {self.most_bytes} bytes")
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise InvalidItem(f"`{self.key.name}` is not valid Unicode: it has a lone surrogate") from None
        return text

    def parse(self, key: Any) -> dict[str, Any] | None:
        """The fields' values in a key; None if the key does not match the template."""
        if self.key.type == "N":
            return {self.names[0]: key}
        if not isinstance(key, str):
            return None
        found = self.pattern.fullmatch(key)
        if found is None:
            return None
        try:
            return {field.name: field.of_text(text) for field, text in zip(self.fields, found.groups(), strict=True)}
        except InvalidItem:
            return None


def _pattern(literals: Sequence[str], fields: Sequence[Attribute]) -> re.Pattern[str]:
    parts = [re.escape(literals[0])]
    for field, literal in zip(fields, literals[1:], strict=True):
        parts.append(f"({_pattern_of(field, literal)}){re.escape(literal)}")
    return re.compile("".join(parts), re.DOTALL)


def _pattern_of(field: Attribute, literal: str) -> str:
    """The pattern of a field's text before a literal. No other text of a number makes the same key again."""
    match field:
        case Whole(digits=None):
            return "0|-?[1-9][0-9]*"
        case Whole(digits=digits):
            return f"[0-9]{{{digits}}}"
        case UtcTime():
            return UTC_TIME
        case Text(has_one_length=True, longest=length):
            return f".{{{length}}}"
        case Text(plain=True):
            return PLAIN
        case Text(shortest=1):
            return ".+?" if literal else ".+"
        case _:
            return ".*?" if literal else ".*"
