"""Slugs: the names of areas as the service compares them."""

import re
from functools import lru_cache

from anyascii import anyascii

LONGEST_SLUG = 64
SLUGS_KEPT = 4096


@lru_cache(SLUGS_KEPT)
def slug_of(name: str) -> str:
    """A name in lower-case ASCII letters, digits and hyphens: `São Paulo` → `sao-paulo`. Empty if nothing is left."""
    words = re.findall("[a-z0-9]+", anyascii(name).lower())
    return "-".join(words)[:LONGEST_SLUG].rstrip("-")


def slug_in_key(area: str) -> str:
    """The slug of an area as a key names it: other programs write `Downtown` there. Without a slug, the name itself."""
    return slug_of(area) or area


def spellings_of(area: str) -> list[str]:
    """How keys may name an area of this name or slug: by its slug, as it is written here, and with capitals."""
    slug = slug_in_key(area)
    return list(dict.fromkeys([slug, area, " ".join(word.capitalize() for word in slug.split("-"))]))
