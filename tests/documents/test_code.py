"""Tests other code in documents: tests in Python are quoted from this folder's, and JSON can be parsed."""

import json

from tests.documents.markdown import DOCUMENTS, ROOT

TESTS = [path.read_text() for path in (ROOT / "tests").rglob("*.py")]
LANGUAGES = {"sh", "graphql", "json", "js", "ts", "html", "python", "dockerfile", "mermaid", "text", "toml", "yaml"}


def test_a_block_names_its_language_can_be_read_and_a_test_in_it_exists() -> None:
    shown = []
    for document in DOCUMENTS:
        for block in document.blocks:
            assert block.language in LANGUAGES, document.name
            if block.language == "python":
                compile(block.text, document.name, "exec")
                shown += [block.text] * ("def test_" in block.text)
            elif block.language == "json":
                json.loads(block.text)
    assert shown
    assert all(any(text in source for source in TESTS) for text in shown)
