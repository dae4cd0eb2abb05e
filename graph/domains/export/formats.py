"""The formats of exports: names, media types, encoders."""

from enum import Enum
from typing import Self

from graph.core.errors import GraphError
from graph.domains.export.encoders import Encoder
from graph.domains.export.geojson import GeoJson
from graph.domains.export.text import Csv, Ndjson

PATH = "/export/events"


class FormatUnavailable(GraphError):
    """The service lacks the library that writes the format."""

    code, status = "FORMAT_UNAVAILABLE", 501

    def __init__(self, name: str) -> None:
        super().__init__(
            f"This service cannot write {name}: ask for ndjson, csv or geojson, or install `quakegraph[arrow]` for it."
        )


class ExportFormat(Enum):
    """A format of exports."""

    NDJSON = (
        "ndjson",
        "application/x-ndjson",
        "A JSON object on each line; the last line has the count and a SHA-256 of the lines before it.",
    )
    CSV = "csv", "text/csv; charset=utf-8; header=present", "Comma-separated values with a header."
    GEOJSON = "geojson", "application/geo+json", "A GeoJSON FeatureCollection in the form of USGS's feeds."
    PARQUET = (
        "parquet",
        "application/vnd.apache.parquet",
        "A Parquet file with GeoParquet's metadata. Needs `quakegraph[arrow]` on the server.",
    )
    ARROW = (
        "arrow",
        "application/vnd.apache.arrow.stream",
        "An Arrow stream. Needs `quakegraph[arrow]` on the server.",
    )

    media_type: str  # the value of `Content-Type`
    description: str  # for the graph and the command line

    def __new__(cls, name: str, media_type: str, description: str) -> Self:
        """A format, whose value is its name."""
        format_ = object.__new__(cls)
        format_._value_, format_.media_type, format_.description = name, media_type, description
        return format_

    @property
    def path(self) -> str:
        """The path of the exports in this format."""
        return f"{PATH}.{self.value}"

    def encoder(self, *, comments: bool = False, spreadsheet: bool = False) -> Encoder:
        """A new encoder. What it is given is for `Csv`; other formats ignore it.

        Raises:
            FormatUnavailable: pyarrow, which writes this format, is not installed.
        """
        match self:
            case ExportFormat.NDJSON:
                return Ndjson()
            case ExportFormat.CSV:
                return Csv(comments=comments, spreadsheet=spreadsheet)
            case ExportFormat.GEOJSON:
                return GeoJson()
        try:
            from graph.domains.export.arrow import Arrow, Parquet  # pyarrow takes half a second and 50 MB
        except ImportError:
            raise FormatUnavailable(self.value) from None
        return Parquet() if self is ExportFormat.PARQUET else Arrow()
