"""Tests that the links of documents have a target, that paths in them exist, and that their code is quoted or valid."""

import json
import re

from tests.documents.markdown import DOCUMENTS, ROOT, Document, document


def test_a_link_within_the_project_leads_to_a_file_and_a_heading() -> None:
    for one in DOCUMENTS:
        for link in one.links:
            if re.match(r"https?://", link):
                continue
            path, _, anchor = link.partition("#")
            target = (one.path.parent / path).resolve() if path else one.path
            assert target.is_relative_to(ROOT), link
            assert target.exists(), (one.name, link)
            assert not anchor or anchor in Document(target).anchors, (one.name, link)


def test_a_file_that_is_named_exists_and_no_line_is_wider_than_a_screen_or_left_by_a_merge() -> None:
    for one in DOCUMENTS:
        for span in one.spans:
            if re.fullmatch(r"(?:\.ci|benchmarks|docs|graph|scripts|tests)/[\w./*-]*", span):
                assert list(ROOT.glob(span)), (one.name, span)
        prose = [line for line in one.prose.splitlines() if not re.match(r" *(\||<|!\[)", line)]
        assert [line for line in prose if len(line) > 130 or re.match("={7}|>{7}", line)] == [], one.name


def test_the_readme_is_short_and_leads_to_the_index_which_lists_every_document() -> None:
    readme, index = document("README.md"), document("docs/README.md")
    assert len(readme.text.splitlines()) <= 150
    assert index.name in readme.links

    listed = {(index.path.parent / link).resolve() for link in index.links}
    assert listed >= {one.path for one in DOCUMENTS if one.name.startswith("docs/")} - {index.path}


TESTS = [path.read_text() for path in (ROOT / "tests").rglob("*.py")]
LANGUAGES = {
    "sh",
    "graphql",
    "json",
    "js",
    "ts",
    "tsx",
    "html",
    "python",
    "dockerfile",
    "mermaid",
    "text",
    "toml",
    "yaml",
}


def test_a_block_names_its_language_can_be_read_and_a_test_in_it_exists() -> None:
    shown = []
    for one in DOCUMENTS:
        for block in one.blocks:
            assert block.language in LANGUAGES, one.name
            if block.language == "python":
                compile(block.text, one.name, "exec")
                shown += [block.text] * ("def test_" in block.text)
            elif block.language == "json":
                json.loads(block.text)
    assert shown
    assert all(any(text in source for source in TESTS) for text in shown)
