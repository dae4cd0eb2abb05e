"""Writes data files and manifests of Libera into the working folder."""

from collections.abc import Sequence
from hashlib import md5
from pathlib import Path
from typing import Any

import orjson

from tests.domains.libera.edos_records import DATA, NAME, Record

ULID = "01GDHWG4R0W8KXWY0KRDD6BZTT"
RUN_ID = "018363c8-1300-e227-de78-13c35a65ff5a"
MANIFEST = f"LIBERA_OUTPUT_MANIFEST_{ULID}.json"


def product(level: str = "L1B", name: str = "RAD-4CH", day: int = 1) -> str:
    """The name of a data product of a night in March 2027."""
    return f"LIBERA_{level}_{name}_V1-2-3_202703{day:02}T220000_202703{day + 1:02}T020000_R27061120000.nc"


def data(name: str, content: bytes = b"data", folder: str = ".") -> Path:
    """Write a data file."""
    path = Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def level_0(folder: str = ".", record: Record | None = None) -> Sequence[Path]:
    """Write a data set of Level 0: its construction record, and its file."""
    return data(NAME, (record or Record()).packed(), folder), data(DATA, b"packets", folder)


def manifest(
    outputs: Sequence[tuple[str, bytes]],
    inputs: Sequence[tuple[str, bytes]] | None = (),
    folder: str = ".",
    **configuration: Any,
) -> Path:
    """Write an output manifest of files with these paths and contents."""
    if inputs is not None:
        configuration["input_manifest_files"] = _listed(inputs)
    document = {"manifest_type": "OUTPUT", "files": _listed(outputs), "configuration": configuration}
    return data(MANIFEST, orjson.dumps(document), folder)


def _listed(files: Sequence[tuple[str, bytes]]) -> list[dict[str, str]]:
    return [{"filename": path, "checksum": md5(content, usedforsecurity=False).hexdigest()} for path, content in files]
