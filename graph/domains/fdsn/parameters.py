"""The parameters of a query: their names, types and meanings, and how a query string is read.

The same table reads requests, and describes the service in its WADL and on its usage page. So a client that reads the
WADL, as ObsPy does, may use all that is implemented, and nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any
from urllib.parse import parse_qsl

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.model import LONGEST_TEXT, Event
from graph.domains.earthquakes.selection.conditions import MOST_TEXTS, conditions_of
from graph.domains.fdsn.matching import Matching
from graph.domains.fdsn.values import (
    Read,
    first_millisecond,
    last_millisecond,
    next_millisecond,
    number,
    one_of,
    texts,
    truth,
    whole,
)
from graph.store.attributes import Real, Whole

FORMATS = ("xml", "quakeml", "text", "geojson", "csv", "kml")
KML_COLOURS = ("age", "depth")
COUNT_FORMATS = ("text", "xml", "geojson")
ORDERS = ("time", "time-asc", "magnitude", "magnitude-asc")
DELETED = ("true", "false", "only")
ALERTS = ("green", "yellow", "orange", "red")
HALF_AROUND_KM = 20_037.5  # the greatest distance of two points
MOST_IDS = 500
LONGEST_PUBLIC_ID = 1024  # characters
LARGEST = 1e9  # of numbers without a natural bound


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a query."""

    name: str
    type: str  # of XML Schema, for the WADL
    read: Read[Any]
    description: str
    aliases: tuple[str, ...] = ()
    default: str | None = None
    options: tuple[str, ...] = ()
    is_extension: bool = False  # of USGS or this service; FDSN does not know it


_LATITUDE = number(-90, 90)
_LONGITUDE = number(-360, 360)
_DEGREES = number(0, 180)
_DEPTH = number(-1000, 10_000)
_MAGNITUDE = number(-100, 100)
_WORDS = texts(MOST_TEXTS, LONGEST_TEXT)

TIME = (
    Parameter(
        "starttime", "xs:dateTime", first_millisecond, "Earliest origin time, inclusive, UTC.", aliases=("start",)
    ),
    Parameter("endtime", "xs:dateTime", last_millisecond, "Latest origin time, inclusive, UTC.", aliases=("end",)),
    Parameter("updatedafter", "xs:dateTime", next_millisecond, "Anything of it was stored after this time, UTC."),
)
PLACE = (
    Parameter("minlatitude", "xs:double", _LATITUDE, "Southern edge, degrees.", aliases=("minlat",)),
    Parameter("maxlatitude", "xs:double", _LATITUDE, "Northern edge, degrees.", aliases=("maxlat",)),
    Parameter(
        "minlongitude",
        "xs:double",
        _LONGITUDE,
        "Western edge, degrees. If it is greater than the eastern edge, the area crosses the 180th meridian.",
        aliases=("minlon",),
    ),
    Parameter("maxlongitude", "xs:double", _LONGITUDE, "Eastern edge, degrees.", aliases=("maxlon",)),
    Parameter("latitude", "xs:double", _LATITUDE, "Centre of a circle, degrees north.", aliases=("lat",)),
    Parameter("longitude", "xs:double", _LONGITUDE, "Centre of a circle, degrees east.", aliases=("lon",)),
    Parameter("minradius", "xs:double", _DEGREES, "Least distance from the centre, degrees."),
    Parameter("maxradius", "xs:double", _DEGREES, "Greatest distance from the centre, degrees."),
    Parameter(
        "maxradiuskm",
        "xs:double",
        number(0, HALF_AROUND_KM),
        "Greatest distance from the centre, km.",
        is_extension=True,
    ),
    Parameter("mindepth", "xs:double", _DEPTH, "Least depth, km; leaves out events without a depth."),
    Parameter("maxdepth", "xs:double", _DEPTH, "Greatest depth, km; leaves out events without a depth."),
)
SIZE = (
    Parameter("minmagnitude", "xs:double", _MAGNITUDE, "Least magnitude, inclusive.", aliases=("minmag",)),
    Parameter("maxmagnitude", "xs:double", _MAGNITUDE, "Greatest magnitude, inclusive.", aliases=("maxmag",)),
    Parameter(
        "magnitudetype",
        "xs:string",
        _WORDS,
        "Any of these types of magnitude, such as mww,mwr, in any case.",
        aliases=("magtype",),
    ),
    Parameter(
        "eventtype", "xs:string", _WORDS, "Any of these types of event, by QuakeML's names, such as quarry blast."
    ),
)
KINDS = (
    Parameter("includeallorigins", "xs:boolean", truth, "Whether xml has every known origin.", default="false"),
    Parameter("includeallmagnitudes", "xs:boolean", truth, "Whether xml has every known magnitude.", default="false"),
    Parameter(
        "includearrivals", "xs:boolean", truth, "Whether xml has arrivals. The catalogue has none.", default="false"
    ),
    Parameter(
        "eventid",
        "xs:string",
        texts(MOST_IDS, LONGEST_PUBLIC_ID),
        f"These events, by id or publicID; at most {MOST_IDS}, with commas between them.",
    ),
    Parameter(
        "catalog", "xs:string", _WORDS, "Any of these sources of records, as `catalogs` lists them, in any case."
    ),
    Parameter("contributor", "xs:string", _WORDS, "Any of these networks, as `contributors` lists them, in any case."),
)
ANSWER = (
    Parameter("limit", "xs:int", whole(1), "The most events of the answer."),
    Parameter("offset", "xs:int", whole(1), "The number of the first event, from 1.", default="1"),
    Parameter("orderby", "xs:string", one_of(*ORDERS), "The order.", default="time", options=ORDERS),
    Parameter("format", "xs:string", one_of(*FORMATS), "The format.", default="xml", options=FORMATS),
    Parameter(
        "nodata",
        "xs:int",
        one_of("204", "404"),
        "The status if no event matches.",
        default="204",
        options=("204", "404"),
    ),
)


_Row = tuple[str, str, Read[Any], str, str | None, Sequence[str]]


def _bounds(kind: type[Whole | Real]) -> Iterator[_Row]:
    """The bounds of a selection's numbers of one kind, those of one attribute side by side."""
    kinds: dict[str, Any] = {each.name: each for each in Event.declared()}
    bounds = [(each.attribute, each.fdsn) for each in conditions_of(Matching).values() if each.fdsn]
    attributes = list(dict.fromkeys(attribute for attribute, _ in bounds if isinstance(kinds[attribute], kind)))
    for attribute, (of, fdsn) in product(attributes, bounds):
        if of == attribute and kind is Real:
            yield fdsn.name, "xs:double", number(kinds[of].least, kinds[of].greatest), fdsn.description, None, ()
        elif of == attribute:
            yield fdsn.name, "xs:int", whole(fdsn.least or 0), fdsn.description, None, ()


EXTENSIONS = tuple(
    Parameter(name, type_, read, description, default=default, options=tuple(options), is_extension=True)
    for name, type_, read, description, default, options in (
        *_bounds(Whole),
        ("alertlevel", "xs:string", one_of(*ALERTS), "PAGER's alert level.", None, ALERTS),
        (
            *("reviewstatus", "xs:string", one_of("all", "automatic", "reviewed"), "Whether a person reviewed it."),
            *("all", ("all", "automatic", "reviewed")),
        ),
        *_bounds(Real),
        (
            "producttype",
            "xs:string",
            _WORDS,
            "Any of these types of products, such as shakemap, in any case.",
            None,
            (),
        ),
        ("kmlcolorby", "xs:string", one_of(*KML_COLOURS), "What decides a colour in kml.", "age", KML_COLOURS),
        ("kmlanimated", "xs:boolean", truth, "Whether kml shows each event at its time.", "false", ()),
        ("spreadsheet", "xs:boolean", truth, "Whether csv is for a spreadsheet, which computes =1+1.", "false", ()),
        (
            *(
                "includedeleted",
                "xs:string",
                one_of(*DELETED),
                "Whether deleted events are there, or `only` they.",
            ),
            *("false", DELETED),
        ),
    )
)
PARAMETERS = (*TIME, *PLACE, *SIZE, *KINDS, *ANSWER, *EXTENSIONS)

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
            values[parameter.name] = parameter.read(text)
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
