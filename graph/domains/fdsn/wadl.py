"""Describes the service for clients: `application.wadl` for programs, the usage page for people.

ObsPy reads the WADL at its start, and from then on uses only the parameters that are listed there, by their long names.
The namespace has no prefix, and `base` contains `event`, as ObsPy needs it.

Source: https://www.w3.org/Submission/wadl/
"""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from graph.domains.fdsn.errors import VERSION
from graph.domains.fdsn.kml import Kml
from graph.domains.fdsn.parameters import ANSWER, COUNT_FORMATS, PARAMETERS, Parameter

MEDIA_TYPES = ("application/xml", "text/plain", "application/geo+json", "text/csv", Kml.media_type)

_NO_COUNT = frozenset(parameter.name for parameter in ANSWER)


def wadl(base: str, most: int) -> str:
    """The WADL of the service.

    Args:
        base: its address, which ends with a slash.
        most: the greatest number of events in an answer.
    """
    query = "\n".join(_param(parameter) for parameter in PARAMETERS)
    count = "\n".join(_param(parameter) for parameter in PARAMETERS if parameter.name not in _NO_COUNT)
    formats = "".join(f"<option value={quoteattr(name)}/>" for name in COUNT_FORMATS)
    types = "".join(f'<representation mediaType="{media_type}"/>' for media_type in MEDIA_TYPES)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<application xmlns="http://wadl.dev.java.net/2009/02" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<doc title="fdsnws-event {VERSION}">An answer has {most:,} events at most. A request for more \
is refused with 413 and a suggestion how to divide it.</doc>
<resources base={quoteattr(base)}>
<resource path="query"><method name="GET" id="query">
<request>
{query}
</request>
<response status="200">{types}</response>
<response status="204"/>
<response status="400 401 403 404 413 429 500 503"><representation mediaType="text/plain"/></response>
</method></resource>
<resource path="count"><method name="GET" id="count">
<request>
{count}
<param name="format" style="query" type="xs:string" default="text">{formats}</param>
</request>
<response status="200"><representation mediaType="text/plain"/></response>
</method></resource>
{_plain("catalogs", "application/xml")}
{_plain("contributors", "application/xml")}
{_plain("version", "text/plain")}
{_plain("application.wadl", "application/xml")}
</resources>
</application>
"""


def usage(base: str, most: int) -> str:
    """The usage page, as plain text."""
    width = max(len(_names(parameter)) for parameter in PARAMETERS)
    lines = "\n".join(f"  {_names(parameter):{width}}  {_described(parameter)}" for parameter in PARAMETERS)
    return f"""fdsnws-event {VERSION}

Events of the catalogue, as the FDSN Web Service Specifications 1.2 describe.

  {base}query         events that fulfil all given conditions
  {base}count         their number
  {base}catalogs      sources of records
  {base}contributors  networks
  {base}version       version of this service
  {base}application.wadl

Send parameters by GET, as in query?starttime=2023-08-03&minmagnitude=4.5&format=text. Each may be given once. Those
marked with * are not of FDSN. An answer has {most:,} events at most.

{lines}
"""


def names_xml(kind: str, names: Sequence[str]) -> str:
    """A list of names, as `catalogs` and `contributors` answer it."""
    listed = "".join(f"<{kind}>{escape(name)}</{kind}>" for name in names)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{kind}s>{listed}</{kind}s>\n'


def _param(parameter: Parameter) -> str:
    default = f" default={quoteattr(parameter.default)}" if parameter.default is not None else ""
    options = "".join(f"<option value={quoteattr(option)}/>" for option in parameter.reader.options)
    return (
        f'<param name={quoteattr(parameter.name)} style="query" type="{parameter.reader.type}"{default}>'
        f"<doc>{escape(parameter.description)}</doc>{options}</param>"
    )


def _plain(path: str, media_type: str) -> str:
    return (
        f'<resource path="{path}"><method name="GET" id="{path}">'
        f'<response status="200"><representation mediaType="{media_type}"/></response></method></resource>'
    )


def _names(parameter: Parameter) -> str:
    return ", ".join((parameter.name, *parameter.aliases)) + (" *" if parameter.is_extension else "")


def _described(parameter: Parameter) -> str:
    options = f" One of {', '.join(parameter.reader.options)}." if parameter.reader.options else ""
    default = f" By default {parameter.default}." if parameter.default is not None else ""
    return f"{parameter.description}{options}{default}"
