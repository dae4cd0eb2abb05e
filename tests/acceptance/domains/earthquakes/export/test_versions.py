"""Arrow and Parquet have the columns of a version, and a failure cuts their connection."""

from pathlib import Path

import pyarrow as pa
import pytest

from tests.acceptance.domains.earthquakes.export.readers import table_of
from tests.domains.earthquakes.export.test_streams import assert_cut
from tests.domains.earthquakes.export.test_versions import COLUMNS, exported
from tests.domains.earthquakes.export.test_versions import revised as revised
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import Service

NAMES = [name for name in COLUMNS.split() if name != "time"]


@pytest.mark.parametrize("engine", ["sqlite"])
@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_a_table_has_the_columns_of_a_version(revised: Service, name: str) -> None:
    body = revised.http.get(f"/export/events.{name}", params={"deleted": "INCLUDE"}).content
    table = table_of(body, name).select(NAMES)
    times = {column: pa.int64() for column in NAMES if pa.types.is_timestamp(table.schema.field(column).type)}
    plain = pa.table({column: table[column].cast(times.get(column, table[column].type)) for column in NAMES})

    rows = exported(revised, deleted="INCLUDE")
    assert plain.to_pylist() == [{column: row[column] for column in NAMES} for row in rows]


def test_a_failure_in_the_middle_cuts_the_connection(tmp_path: Path, long_file: Path, usgs: UsgsServer) -> None:
    assert_cut(tmp_path, long_file, usgs, "/export/events.arrow")
