"""The tables of `docs/data-files.md`. Its operations are executed with those of all documents."""

import re

from graph.domains.data_files.checking import MOST_PARTS
from graph.domains.data_files.entities import ENTITIES, LARGEST_METADATA, LIBERA_METADATA, LONGEST_NAME, LONGEST_WORD
from graph.domains.data_files.model import LEVELS
from graph.domains.data_files.openlineage.intake import MOST_BYTES, MOST_EVENTS
from graph.domains.data_files.openlineage.routes import PATHS
from graph.domains.data_files.provenance.lineage import FURTHEST, MOST_NODES
from graph.domains.data_files.provenance.recording import MOST_USED
from graph.domains.data_files.registering import MOST_FILES
from graph.domains.data_files.selection import VersionRule
from graph.store.dynamodb.engine import ACTIONS_PER_TRANSACTION
from tests.documents.markdown import document
from tests.domains.data_files.followed import fields, in_code

PAGE = document("docs/data-files.md")


def test_the_fields_of_a_file_are_those_of_the_graph() -> None:
    rows = PAGE.rows("Register")

    assert {name for row in rows for name in in_code(row[0])} == fields("input DataFileInput")
    assert ", ".join(LEVELS[:-1]) + f" and {LEVELS[-1]}" in PAGE.section("Register")


def test_every_condition_of_a_filter_is_named() -> None:
    section = PAGE.section("The files of a day")

    assert [name for name in fields("input DataFileFilter") if f"`{name}`" not in section] == []


def test_the_table_of_versions_has_every_rule() -> None:
    named = [in_code(row[0])[0] for row in PAGE.rows("Versions")]

    assert set(named) - {'"1.9.0"'} == {rule.value for rule in VersionRule}


def test_the_table_of_limits_has_the_limits() -> None:
    limits = {row[0]: row[1] for row in PAGE.rows("Limits")}

    assert limits == {
        "files of one `registerFiles`": f"{MOST_FILES:,}",
        "files that a run uses, and that it generates, in one report": f"{MOST_USED:,} each",
        "further items of a file, one for each day of sortable metadata": (
            f"{MOST_PARTS}; fewer on DynamoDB, where a transaction has {ACTIONS_PER_TRANSACTION} writes"
        ),
        "name of a file": f"{LONGEST_NAME} characters",
        "level, product": f"{LONGEST_WORD} characters: ASCII letters, digits, `_`, `.` and `-`",
        "`metadata` of a file": f"{LARGEST_METADATA // 1024} kB as JSON",
        "`depth` of a lineage": str(FURTHEST),
        "`maxNodes` of a lineage": f"{MOST_NODES:,}, in each direction",
        "body of `/api/v1/lineage`": f"{MOST_BYTES // 1024**2} MB, also when decompressed",
    }


def test_the_section_about_openlineage_names_its_paths_and_its_limit() -> None:
    section = PAGE.section("OpenLineage")

    assert all(path in section for path in PATHS)
    assert f"A list of at most {MOST_EVENTS:,} events" in section


def test_the_table_of_items_names_all_keys() -> None:
    def kind(template: str) -> str:
        return re.sub(r"[<{].*", "…", template)

    rows = PAGE.rows("How they are stored")
    said = {(kind(in_code(row[1])[0]), kind(in_code(row[2])[0])) for row in rows}
    keys = {(kind(pk), kind(sk)) for entity in ENTITIES for pk, sk in (entity.key, *entity.indexes.values())}

    assert said == keys
    assert {LIBERA_METADATA.name, *(index.name for index in LIBERA_METADATA.indexes)} <= set(PAGE.spans)
