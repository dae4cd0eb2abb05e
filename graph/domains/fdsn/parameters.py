"""The parameters of a query: their names, types and meanings, and how a query string is read.

The same table reads requests, and describes the service in its WADL and on its usage page. So a client that reads the
WADL, as ObsPy does, may use all that is implemented, and nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any
from urllib.parse import parse_qsl

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.model import LONGEST_TEXT, Event
from graph.domains.earthquakes.selection.conditions import MOST_TEXTS, conditions_of
from graph.domains.fdsn.matching import Matching
from graph.domains.fdsn.values import (
    FIRST_MILLISECOND,
    LAST_MILLISECOND,
    NEXT_MILLISECOND,
    TRUTH,
    Reader,
    number,
    one_of,
    texts,
    whole,
)
from graph.store.attributes import Real, Whole

FORMATS = ("xml", "quakeml", "text", "geojson", "csv", "kml")
COUNT_FORMATS = ("text", "xml", "geojson")
ORDERS = ("time", "time-asc", "magnitude", "magnitude-asc")
HALF_AROUND_KM = 20_037.5  # the greatest distance of two points
MOST_IDS = 500
LONGEST_PUBLIC_ID = 1024  # characters


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a query."""

    name: str
    reader: Reader
    description: str
    aliases: tuple[str, ...] = ()
    default: str | None = None
    is_extension: bool = False  # of USGS or this service; FDSN does not know it


_LATITUDE = number(-90, 90)
_LONGITUDE = number(-360, 360)
_DEGREES = number(0, 180)
_DEPTH = number(-1000, 10_000)
_MAGNITUDE = number(-100, 100)
_WORDS = texts(MOST_TEXTS, LONGEST_TEXT)

TIME = (
    Parameter("starttime", FIRST_MILLISECOND, "Earliest origin time, inclusive, UTC.", aliases=("start",)),
    Parameter("endtime", LAST_MILLISECOND, "Latest origin time, inclusive, UTC.", aliases=("end",)),
    Parameter("updatedafter", NEXT_MILLISECOND, "Anything of it was stored after this time, UTC."),
)
PLACE = (
    Parameter("minlatitude", _LATITUDE, "Southern edge, degrees.", aliases=("minlat",)),
    Parameter("maxlatitude", _LATITUDE, "Northern edge, degrees.", aliases=("maxlat",)),
    Parameter(
        "minlongitude",
        _LONGITUDE,
        "Western edge, degrees. If it is greater than the eastern edge, the area crosses the 180th meridian.",
        aliases=("minlon",),
    ),
    Parameter("maxlongitude", _LONGITUDE, "Eastern edge, degrees.", aliases=("maxlon",)),
    Parameter("latitude", _LATITUDE, "Centre of a circle, degrees north.", aliases=("lat",)),
    Parameter("longitude", _LONGITUDE, "Centre of a circle, degrees east.", aliases=("lon",)),
    Parameter("minradius", _DEGREES, "Least distance from the centre, degrees."),
    Parameter("maxradius", _DEGREES, "Greatest distance from the centre, degrees."),
    Parameter("maxradiuskm", number(0, HALF_AROUND_KM), "Greatest distance from the centre, km.", is_extension=True),
    Parameter("mindepth", _DEPTH, "Least depth, km; leaves out events without a depth."),
    Parameter("maxdepth", _DEPTH, "Greatest depth, km; leaves out events without a depth."),
)
SIZE = (
    Parameter("minmagnitude", _MAGNITUDE, "Least magnitude, inclusive.", aliases=("minmag",)),
    Parameter("maxmagnitude", _MAGNITUDE, "Greatest magnitude, inclusive.", aliases=("maxmag",)),
    Parameter(
        "magnitudetype", _WORDS, "Any of these types of magnitude, such as mww,mwr, in any case.", aliases=("magtype",)
    ),
    Parameter("eventtype", _WORDS, "Any of these types of event, by QuakeML's names, such as quarry blast."),
)
KINDS = (
    Parameter("includeallorigins", TRUTH, "Whether xml has every known origin.", default="false"),
    Parameter("includeallmagnitudes", TRUTH, "Whether xml has every known magnitude.", default="false"),
    Parameter("includearrivals", TRUTH, "Whether xml has arrivals. The catalogue has none.", default="false"),
    Parameter(
        "eventid",
        texts(MOST_IDS, LONGEST_PUBLIC_ID),
        f"These events, by id or publicID; at most {MOST_IDS}, with commas between them.",
    ),
    Parameter("catalog", _WORDS, "Any of these sources of records, as `catalogs` lists them, in any case."),
    Parameter("contributor", _WORDS, "Any of these networks, as `contributors` lists them, in any case."),
)
ANSWER = (
    Parameter("limit", whole(1), "The most events of the answer."),
    Parameter("offset", whole(1), "The number of the first event, from 1.", default="1"),
    Parameter("orderby", one_of(*ORDERS), "The order.", default="time"),
    Parameter("format", one_of(*FORMATS), "The format.", default="xml"),
    Parameter("nodata", one_of("204", "404", type="xs:int"), "The status if no event matches.", default="204"),
)


def _bounds(kind: type[Whole | Real]) -> Iterator[Parameter]:
    """The bounds of a selection's numbers of one kind, those of one attribute side by side."""
    kinds: dict[str, Any] = {each.name: each for each in Event.declared()}
    bounds = [(each.attribute, each.fdsn, each.description) for each in conditions_of(Matching).values() if each.fdsn]
    attributes = list(dict.fromkeys(attribute for attribute, *_ in bounds if isinstance(kinds[attribute], kind)))
    for attribute, (of, fdsn, description) in product(attributes, bounds):
        if of == attribute:
            bounded = number(kinds[of].least, kinds[of].greatest) if kind is Real else whole(fdsn.least or 0)
            yield Parameter(fdsn.name, bounded, description)


EXTENSIONS = (
    *_bounds(Whole),
    Parameter("alertlevel", one_of("green", "yellow", "orange", "red"), "PAGER's alert level."),
    Parameter("reviewstatus", one_of("all", "automatic", "reviewed"), "Whether a person reviewed it.", default="all"),
    *_bounds(Real),
    Parameter("producttype", _WORDS, "Any of these types of products, such as shakemap, in any case."),
    Parameter("kmlcolorby", one_of("age", "depth"), "What decides a colour in kml.", default="age"),
    Parameter("kmlanimated", TRUTH, "Whether kml shows each event at its time.", default="false"),
    Parameter("spreadsheet", TRUTH, "Whether csv is for a spreadsheet, which computes =1+1.", default="false"),
    Parameter(
        "includedeleted",
        one_of("true", "false", "only"),
        "Whether deleted events are there, or `only` they.",
        default="false",
    ),
)
PARAMETERS = (*TIME, *PLACE, *SIZE, *KINDS, *ANSWER, *(replace(each, is_extension=True) for each in EXTENSIONS))

_BY_NAME = {name: parameter for parameter in PARAMETERS for name in (parameter.name, *parameter.aliases)}


def read_parameters(query_string: bytes) -> Mapping[str, Any]:
    """The values of a query string by the parameters' names, without those that are not given.

    Raises:
        BadUserInput: A parameter is unknown, comes twice, or has a value that it cannot have.
    """
    values: dict[str, Any] = {}
    for name, text in _pairs(query_string):
        parameter = _BY_NAME.get(name)
        if parameter is None:
            raise BadUserInput(f"There is no parameter `{name[:50]}`.")
        if parameter.name in values:
            raise BadUserInput(f"`{parameter.name}` may be given once{_also(parameter.aliases)}.")
        try:
            values[parameter.name] = parameter.reader.read(text)
        except BadUserInput as refusal:
            raise BadUserInput(f"`{name}` {refusal}.") from refusal
    return values


def _pairs(query_string: bytes) -> Sequence[tuple[str, str]]:
    try:
        text = query_string.decode("ascii").rstrip("&")
        return parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=200)
    except ValueError as error:
        raise BadUserInput("The query string must be `name=value`, with `&` between parameters, in UTF-8.") from error


def _also(aliases: Sequence[str]) -> str:
    return f", also as `{aliases[0]}`" if aliases else ""
