"""The tables of `docs/data-files.md`. Its operations are executed with those of all documents."""

import re

from graph.domains.data_files.entities import ENTITIES, LIBERA_METADATA
from graph.domains.data_files.model import LARGEST_METADATA, LEVELS, LONGEST_NAME, LONGEST_NAME_BYTES, LONGEST_WORD
from graph.domains.data_files.new_files import MOST_ITEMS
from graph.domains.data_files.provenance.lineage import FURTHEST, MOST_NODES
from graph.domains.data_files.provenance.recording import MOST_USED
from graph.domains.data_files.registering import MOST_FILES
from graph.domains.data_files.selection import VersionRule
from graph.domains.openlineage.intake import MOST_BYTES, MOST_EVENTS, MOST_VALUES
from graph.domains.openlineage.routes import PATHS
from graph.store.dynamodb.engine import ACTIONS_PER_TRANSACTION
from graph.store.values import CONTAINERS, VALUES
from tests.documents.markdown import document
from tests.documents.pages import fields_of

PAGE = document("docs/data-files.md")


def test_files_filters_and_versions_are_those_of_the_graph() -> None:
    assert set(PAGE.names("Register")) == fields_of("DataFileInput")
    assert ", ".join(LEVELS[:-1]) + f" and {LEVELS[-1]}" in PAGE.section("Register")
    section = PAGE.section("The files of a day")
    assert [name for name in fields_of("DataFileFilter") if f"`{name}`" not in section] == []
    assert set(PAGE.names("Versions")) - {'"1.9.0"'} == {rule.value for rule in VersionRule}


def test_the_limits_are_those_of_the_code() -> None:
    assert {row[0]: row[1] for row in PAGE.rows("Limits")} == {
        "files of one `registerFiles`": f"{MOST_FILES:,}",
        "files that a run uses, and that it generates, in one report": f"{MOST_USED:,} each",
        "further items of a file, one for each day of sortable metadata": (
            f"{MOST_ITEMS}; fewer on DynamoDB, where a transaction has {ACTIONS_PER_TRANSACTION} writes"
        ),
        "name of a file": f"{LONGEST_NAME} characters, {LONGEST_NAME_BYTES:,} bytes",
        "level, product": f"{LONGEST_WORD} characters: ASCII letters, digits, `_`, `.` and `-`",
        "`metadata` of a file": (
            f"{LARGEST_METADATA // 1024} kB as JSON, {VALUES:,} values, {CONTAINERS:,} lists and objects; "
            "the `attributes` of an item likewise"
        ),
        "`depth` of a lineage": str(FURTHEST),
        "`maxNodes` of a lineage": f"{MOST_NODES:,}, in each direction",
        "body of `/api/v1/lineage`": (
            f"{MOST_BYTES // 1024**2} MB, also when decompressed, and {MOST_VALUES:,} values; lists of 1,000 elements"
        ),
    }
    section = PAGE.section("OpenLineage")
    assert all(path in section for path in PATHS)
    assert f"A list of at most {MOST_EVENTS:,} events" in section


def test_the_table_of_items_names_all_keys() -> None:
    def kind(template: str) -> str:
        return re.sub(r"[<{].*", "…", template)

    rows = PAGE.rows("How they are stored")
    said = {tuple(kind(cell.split("`")[1]) for cell in row[1:3]) for row in rows}
    keys = {(kind(pk), kind(sk)) for entity in ENTITIES for pk, sk in (entity.key, *entity.indexes.values())}

    assert said == keys
    assert {LIBERA_METADATA.name, *(index.name for index in LIBERA_METADATA.indexes)} <= set(PAGE.spans)
