"""Finds the end of a JSON value that arrives in chunks, cut anywhere. Nothing is parsed or kept.

Brackets outside of texts are counted, whatever their kind, so a value that is damaged inside still has
an end. No byte is scanned more than twice, whatever the input and however it is cut: the regular
expressions skip whole runs of bytes, and their possessive quantifiers never backtrack.
"""

import re
from collections.abc import Callable

QUOTE, OPENING, CLOSING = ord('"'), frozenset(b"{["), frozenset(b"}]")


def _skipping(pattern: bytes) -> Callable[[bytes, int], re.Match[bytes]]:
    """The `match` of a pattern that matches at any position, if only the empty string."""
    return re.compile(pattern, re.DOTALL).match  # type: ignore[return-value]


_TEXT = rb'[^"\\]*+(?:\\.[^"\\]*+)*+'
_skip_text = _skipping(_TEXT)  # to the closing quote, or to a backslash at the end of the chunk
_skip_to_bracket = _skipping(rb'[^"{}\[\]]*+(?:"%b"[^"{}\[\]]*+)*+' % _TEXT)  # or to a text that is cut
_skip_scalar = _skipping(rb'[^"{}\[\],: \t\r\n]*+')


class TooDeep(ValueError):
    """More brackets are open at once than the limit allows."""


class ValueExtent:
    """Finds the end of one value after another: `begin` at the first byte, then `scan` until it has `ended`."""

    __slots__ = ("_depth", "_escaped", "_in_text", "_max_depth", "_opening_quote", "_scalar", "ended")

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._depth = 0  # brackets open
        self._scalar = False  # the value is a number or a word
        self._opening_quote = False  # the value is a text, and its first byte is still to be scanned
        self._in_text = False
        self._escaped = False  # the last chunk ended with a backslash in a text
        self.ended = True

    def begin(self, first: int) -> None:
        """Begin a value; `first` is its first byte."""
        self.ended = False
        self._opening_quote = first == QUOTE
        self._scalar = not self._opening_quote and first not in OPENING

    def scan(self, chunk: bytes, start: int) -> int:
        """Scan on. Returns the position after the value, or the end of the chunk if the value goes on.

        A number or a word has ended once another byte follows it.

        Raises:
            TooDeep: More than `max_depth` brackets are open.
        """
        if self._scalar:
            end = _skip_scalar(chunk, start).end()
            self.ended = end < len(chunk)
            return end
        position = start
        if self._opening_quote:
            self._opening_quote, self._in_text = False, True
            position += 1
        while position < len(chunk) and not self.ended:
            position = self._scan_text(chunk, position) if self._in_text else self._scan_brackets(chunk, position)
        return position

    def _scan_text(self, chunk: bytes, start: int) -> int:
        """Scan to the end of a text, from a position after its opening quote."""
        end = _skip_text(chunk, start + self._escaped).end()
        self._escaped = False
        if end == len(chunk):
            return end
        self._in_text = self._escaped = chunk[end] != QUOTE
        self.ended = not self._in_text and not self._depth
        return end + 1

    def _scan_brackets(self, chunk: bytes, start: int) -> int:
        """Scan to the bracket that closes the value, or into a text that goes on in the next chunk."""
        depth, size, position = self._depth, len(chunk), start
        while position < size:
            position = _skip_to_bracket(chunk, position).end()
            if position == size:
                break
            byte = chunk[position]
            position += 1
            if byte in CLOSING:
                depth -= 1
                if not depth:
                    self.ended = True
                    break
            elif byte in OPENING:
                depth += 1
                if depth > self._max_depth:
                    raise TooDeep
            else:
                self._in_text = True  # the rest was scanned for the closing quote, in vain
                break
        self._depth = depth
        return position
