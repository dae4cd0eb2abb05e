"""The types of events: from a source's word to one of QuakeML's.

ObsPy drops an event whose type QuakeML does not know. So every word becomes one of QuakeML's, and what nothing fits
becomes `other event`.

Source: QuakeML 1.2, https://quake.ethz.ch/quakeml/; for the words of USGS,
https://earthquake.usgs.gov/fdsnws/event/1/application.json
"""

from functools import lru_cache

OTHER = "other event"
DELETED = "not existing"

QUAKEML_TYPES = frozenset(
    {
        *("not existing", "not reported", "earthquake", "anthropogenic event", "collapse", "cavity collapse"),
        *("mine collapse", "building collapse", "explosion", "accidental explosion", "chemical explosion"),
        *("controlled explosion", "experimental explosion", "industrial explosion", "mining explosion"),
        *("quarry blast", "road cut", "blasting levee", "nuclear explosion", "induced or triggered event"),
        *("rock burst", "reservoir loading", "fluid injection", "fluid extraction", "crash", "plane crash"),
        *("train crash", "boat crash", "other event", "atmospheric event", "sonic boom", "sonic blast"),
        *("acoustic noise", "thunder", "avalanche", "snow avalanche", "debris avalanche", "hydroacoustic event"),
        *("ice quake", "slide", "landslide", "rockslide", "meteorite", "volcanic eruption"),
    }
)

_SAME = {  # words of sources, without regard to case, `_` and `-`
    "quarry": "quarry blast",
    "icequake": "ice quake",
    "frost quake": "ice quake",
    "rock slide": "rockslide",
    "rockburst": "rock burst",
    "sonicboom": "sonic boom",
    "mine blast": "mining explosion",
    "mining blast": "mining explosion",
    "volcanic explosion": "volcanic eruption",
    "eruption": "volcanic eruption",
    "anthropogenic": "anthropogenic event",
    "induced earthquake": "induced or triggered event",
    "triggered earthquake": "induced or triggered event",
    "meteor": "meteorite",
    "snowavalanche": "snow avalanche",
    "blast": "explosion",
    "other": "other event",
    "unknown": "not reported",
}


@lru_cache(1024)
def quakeml_type(word: str) -> str:
    """QuakeML's type for a source's word."""
    plain = " ".join(word.lower().replace("_", " ").replace("-", " ").split())
    known = _SAME.get(plain, plain)
    return known if known in QUAKEML_TYPES else OTHER
