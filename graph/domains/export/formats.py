"""The formats of exports: names, media types, encoders."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from graph.core.errors import GraphError
from graph.domains.export.encoders import Encoder
from graph.domains.export.geojson import GeoJson
from graph.domains.export.text import Csv, Ndjson

PATH = "/export/events"

OfCsv = Mapping[str, bool]


class FormatUnavailable(GraphError):
    """The service lacks the library that writes the format."""

    code, status = "FORMAT_UNAVAILABLE", 501

    def __init__(self, name: str) -> None:
        super().__init__(
            f"This service cannot write {name}: ask for ndjson, csv or geojson, or install `quakegraph[arrow]` for it."
        )


class ExportFormat(Enum):
    """A format of exports."""

    NDJSON = "ndjson"
    CSV = "csv"
    GEOJSON = "geojson"
    PARQUET = "parquet"
    ARROW = "arrow"

    @property
    def description(self) -> str:
        """What it is, for the graph and the command line."""
        return _FORMATS[self].description

    @property
    def media_type(self) -> str:
        """The value of `Content-Type`."""
        return _FORMATS[self].media_type

    def encoder(self, **of_csv: bool) -> Encoder:
        """A new encoder.

        Args:
            of_csv: `comments` and `spreadsheet`, see `Csv`. Other formats ignore them.

        Raises:
            FormatUnavailable: pyarrow, which writes this format, is not installed.
        """
        return _FORMATS[self].encoder(of_csv)


def path_of(format_: ExportFormat) -> str:
    """The path of the exports in a format."""
    return f"{PATH}.{format_.value}"


def _arrow(of_csv: OfCsv) -> Encoder:
    try:
        from graph.domains.export.arrow import Arrow  # pyarrow takes half a second and 50 MB
    except ImportError:
        raise FormatUnavailable(ExportFormat.ARROW.value) from None
    return Arrow()


def _parquet(of_csv: OfCsv) -> Encoder:
    try:
        from graph.domains.export.arrow import Parquet
    except ImportError:
        raise FormatUnavailable(ExportFormat.PARQUET.value) from None
    return Parquet()


@dataclass(frozen=True, slots=True)
class _Format:
    description: str
    media_type: str
    encoder: Callable[[OfCsv], Encoder]


_FORMATS = {
    ExportFormat.NDJSON: _Format(
        "A JSON object on each line; the last line has the count and a SHA-256 of the lines before it.",
        "application/x-ndjson",
        lambda of_csv: Ndjson(),
    ),
    ExportFormat.CSV: _Format(
        "Comma-separated values with a header.",
        "text/csv; charset=utf-8; header=present",
        lambda of_csv: Csv(**of_csv),
    ),
    ExportFormat.GEOJSON: _Format(
        "A GeoJSON FeatureCollection in the form of USGS's feeds.", "application/geo+json", lambda of_csv: GeoJson()
    ),
    ExportFormat.PARQUET: _Format(
        "A Parquet file with GeoParquet's metadata. Needs `quakegraph[arrow]` on the server.",
        "application/vnd.apache.parquet",
        _parquet,
    ),
    ExportFormat.ARROW: _Format(
        "An Arrow stream. Needs `quakegraph[arrow]` on the server.", "application/vnd.apache.arrow.stream", _arrow
    ),
}
