"""The order of versions, which is that of PEP 440 for the versions that it knows.

`1.9.0` is before `1.10.0`; `1.2.dev1`, `1.2a1`, `1.2b1` and `1.2rc9` are before `1.2`, and `1.2.post1` is after it;
`v1.2` and `1.2.0` are the same version as `1.2`. Any other word makes a version earlier, as a candidate's does.

Source: https://packaging.python.org/en/latest/specifications/version-specifiers/
"""

import re
from collections.abc import Iterator
from functools import lru_cache

LONGEST_NAME_IN_ORDER = 160  # characters of a file's name behind its calibration's version
KEPT = 1024  # orders; a list compares the few versions of its files thousands of times

# A part of an order begins with one of these. What sorts before the end makes a version earlier, the others later.
_WORD, _END, _LOCAL, _POST, _LOCAL_WORD, _LOCAL_NUMBER, _NUMBER, _EPOCH = "a", "m", "m+", "mp", "p", "q", "n", "o"

END_OF_ORDER = f" {_END} "
"""What follows the parts of an order, before what a store has behind it."""

_WORDS = {
    "dev": _WORD + "0",  # before any letter
    **dict.fromkeys(("a", "alpha"), _WORD + "a"),
    **dict.fromkeys(("b", "beta"), _WORD + "b"),
    **dict.fromkeys(("c", "rc", "pre", "preview"), _WORD + "rc"),
    **dict.fromkeys(("post", "rev", "r"), _POST),
}
"""The words of PEP 440, each of which has a number, by default 0."""

_VERSION = re.compile(
    r"(?:v?(?P<epoch>\d+)!)?v?(?P<release>\d+(?:[-._]\d+)*)?(?P<rest>[^+]*)(?:\+(?P<local>.*))?", re.ASCII
)
_WITH_POST = re.compile(r"(\d+(?:\.\d+)+)-(\d+)", re.ASCII)  # `1.0-1` is `1.0.post1`; Libera's `1-0-1` is a release
_TOKEN = re.compile(r"\d+|[a-z]+", re.ASCII)
_RUN_TOGETHER = re.compile("(alpha|beta|preview|pre|rc|a|b|c)?(post|rev|r)?(dev)?")  # `1.0rcdev1` is `1.0rc0.dev1`
_SEGMENT = re.compile(r"[a-z0-9]+", re.ASCII)


@lru_cache(KEPT)
def order_of(version: str) -> str:
    """A text that orders versions, by the code points of its characters.

    Each number of a version is written with the number of its digits before it. A store keeps these texts in an index.
    """
    return " ".join([*_leading(version), *_following(version), _END])


def place_in_order(version: str, name: str) -> str:
    """The place of a version of a calibration, with the name of its file, among all versions."""
    return f"{order_of(version)} {name[:LONGEST_NAME_IN_ORDER]}"


def major_of(version: str) -> str:
    """The beginning that the orders of all versions with the same epoch and first number have."""
    parts = order_of(version).split(" ")
    return " ".join(parts[: 2 if parts[0].startswith(_EPOCH) else 1]) + " "


def _leading(version: str) -> Iterator[str]:
    """The parts of the epoch, unless that is 0, and of the release without the zeros that end it."""
    found = _matched(version)
    if epoch := (found["epoch"] or "").lstrip("0"):
        yield _number(_EPOCH, epoch)
    if found["release"]:
        first, *others = _TOKEN.findall(_release(found["release"])[0])
        while others and not others[-1].strip("0"):
            others.pop()
        yield from (_number(_NUMBER, digits) for digits in (first, *others))


def _following(version: str) -> Iterator[str]:
    """The parts of what follows the release."""
    found = _matched(version)
    _, post = _release(found["release"] or "")
    if post:
        yield from (_POST, _number(_NUMBER, post))
    tokens = [part for token in _TOKEN.findall(found["rest"]) for part in _parted(token)]
    for at, token in enumerate(tokens):
        if token.isdecimal():
            yield _number(_NUMBER, token)
        elif token not in _WORDS or not found["release"]:
            yield _WORD + token
        else:
            yield _WORDS[token]
            if not "".join(tokens[at + 1 : at + 2]).isdecimal():
                yield _number(_NUMBER, "0")
    if segments := _SEGMENT.findall(found["local"] or ""):
        yield _LOCAL
        for each in segments:
            yield _number(_LOCAL_NUMBER, each) if each.isdecimal() else _LOCAL_WORD + each


def _parted(token: str) -> list[str]:
    found = _RUN_TOGETHER.fullmatch(token)
    return list(filter(None, found.groups())) if found else [token]


def _matched(version: str) -> re.Match[str]:
    return _VERSION.fullmatch(version.lower().replace("\n", " "))  # type: ignore[return-value]  # it matches any line


def _release(text: str) -> tuple[str, str]:
    """The release, and the number of a post-release that is written without its word."""
    found = _WITH_POST.fullmatch(text)
    return (found[1], found[2]) if found else (text, "")


def _number(kind: str, digits: str) -> str:
    digits = digits.lstrip("0")
    return f"{kind}{len(digits):02}{digits}"
