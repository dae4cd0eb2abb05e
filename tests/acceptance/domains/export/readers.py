"""Reads exports as other people's programs do, each into the records of the same rows."""

import io
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from tests.domains.export.readers import NAMES


def _without_end(body: bytes) -> bytes:
    return body[: body.rstrip(b"\n").rindex(b"\n") + 1]


def _records(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = frame[list(NAMES)].to_dict("records")
    return records


_DUCK = """
import sys
import duckdb
import pyarrow as pa

source, file = sys.argv[1:]
arrow = pa.ipc.open_stream(file).read_all() if source == "arrow" else None
found = duckdb.sql(f"SELECT * FROM {source.format(file=file)}").to_arrow_table()
with pa.ipc.new_stream(sys.stdout.buffer, found.schema) as stream:
    stream.write_table(found)
"""


def _duck(source: str) -> Callable[[bytes, Path], list[dict[str, Any]]]:
    """Read with DuckDB in a process of its own, since its bindings print a list of what they leak at their end."""

    def read(body: bytes, file: Path) -> list[dict[str, Any]]:
        command = [sys.executable, "-c", _DUCK, source, str(file)]
        found = table_of(subprocess.run(command, capture_output=True, check=True).stdout, "arrow")
        records: list[dict[str, Any]] = found.select(NAMES).to_pylist()
        return records

    return read


def table_of(body: bytes, name: str) -> pa.Table:
    """The table of a body of Parquet or Arrow."""
    return pyarrow.parquet.read_table(io.BytesIO(body)) if name == "parquet" else pa.ipc.open_stream(body).read_all()


Reader = Callable[[bytes, Path], Iterable[dict[str, Any]]]
"""(body, a file that has it) → records."""

READERS: dict[str, dict[str, Reader]] = {
    "ndjson": {
        "pandas": lambda body, file: _records(
            pandas.read_json(io.BytesIO(_without_end(body)), lines=True, precise_float=True)
        ),
        "pyarrow": lambda body, file: pyarrow.json.read_json(io.BytesIO(_without_end(body))).to_pylist(),
        "duckdb": _duck("(SELECT * FROM read_json('{file}', format='newline_delimited') WHERE eventId IS NOT NULL)"),
    },
    "csv": {
        "pandas": lambda body, file: _records(pandas.read_csv(io.BytesIO(body), parse_dates=["time"])),
        "pyarrow": lambda body, file: pyarrow.csv.read_csv(io.BytesIO(body)).to_pylist(),
        "duckdb": _duck("read_csv('{file}')"),
    },
    "parquet": {
        "pyarrow": lambda body, file: table_of(body, "parquet").to_pylist(),
        "pandas": lambda body, file: _records(pandas.read_parquet(io.BytesIO(body))),
        "duckdb": _duck("read_parquet('{file}')"),
    },
    "arrow": {
        "pyarrow": lambda body, file: table_of(body, "arrow").to_pylist(),
        "pandas": lambda body, file: _records(table_of(body, "arrow").to_pandas()),
        "duckdb": _duck("arrow"),
    },
}
"""Format → the programs that read it."""
