"""The setting of kept payloads."""

from pathlib import Path

from pydantic import Field, field_validator

from graph.settings import SettingsPart


class PayloadSettings(SettingsPart):
    """Where payloads are kept."""

    keep_payloads: Path | None = Field(
        None,
        description="Folder in which everything that is ingested is kept, compressed, so that the catalogue can be "
        "rebuilt from it.",
    )

    @field_validator("keep_payloads")
    @classmethod
    def _is_a_folder(cls, path: Path | None) -> Path | None:
        if path and path.exists() and not path.is_dir():
            raise ValueError("must be a folder, and is a file")
        return path
