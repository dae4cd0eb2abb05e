"""Tests other code in documents: Python is quoted from the tests; JSON and the queries in JavaScript can be parsed."""

import json

from tests.documents.markdown import DOCUMENTS, ROOT

TESTS = [path.read_text() for path in (ROOT / "tests").rglob("*.py")]
LANGUAGES = {"sh", "graphql", "json", "js", "ts", "html", "python", "dockerfile", "mermaid", "text", "toml", "yaml"}


def test_a_test_in_a_document_exists() -> None:
    shown = [
        block.text
        for document in DOCUMENTS
        for block in document.blocks
        if block.language == "python" and "def test_" in block.text
    ]

    assert shown
    assert all(any(text in source for source in TESTS) for text in shown)


def test_python_and_json_can_be_read() -> None:
    for document in DOCUMENTS:
        for block in document.blocks:
            if block.language == "python":
                compile(block.text, document.name, "exec")
            elif block.language == "json":
                json.loads(block.text)


def test_a_block_names_its_language() -> None:
    for document in DOCUMENTS:
        assert {block.language for block in document.blocks} <= LANGUAGES, document.name
