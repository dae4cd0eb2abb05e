"""What the README promises is so: its queries have the printed answers, its tables have everything."""

import json
import re
from pathlib import Path

from graph import errors
from graph.cli import serve
from graph.settings import Settings

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_table_of_settings_says_what_the_settings_say() -> None:
    rows = re.findall(r"^\| `GRAPH_(\w+)` \| (?:`--([\w-]+)`)? ?\| `([^`]*)` \| (.*) \|$", README, re.MULTILINE)

    assert [row[0].lower() for row in rows] == list(Settings.model_fields)
    for name, option, default, description in rows:
        field = Settings.model_fields[name.lower()]
        assert description == field.description
        assert default == json.dumps(field.default).strip('"').removesuffix(".0")
        assert bool(option) == (name.lower() in {parameter.name for parameter in serve.params})
