"""Tests that the links of documents have a target, and that the paths in documents exist."""

import re

import pytest

from tests.documents.markdown import DOCUMENTS, ROOT, Document, document

EACH = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)


@EACH
def test_a_link_within_the_project_leads_to_a_file_and_a_heading(document: Document) -> None:
    for link in document.links:
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.path.parent / path).resolve() if path else document.path
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in Document(target).anchors, link


@EACH
def test_a_file_that_is_named_exists(document: Document) -> None:
    for span in document.spans:
        if re.fullmatch(r"(?:\.ci|benchmarks|docs|graph|scripts|tests)/[\w./*-]*", span):
            assert list(ROOT.glob(span)), span


def test_the_index_lists_every_document() -> None:
    index = document("docs/README.md")
    listed = {(index.path.parent / link).resolve() for link in index.links}

    assert listed >= {one.path for one in DOCUMENTS if one.name.startswith("docs/")} - {index.path}


def test_the_readme_is_short_and_leads_to_the_index() -> None:
    readme = document("README.md")

    assert len(readme.text.splitlines()) <= 150
    assert "docs/README.md" in readme.links


@EACH
def test_a_line_is_not_wider_than_a_screen(document: Document) -> None:
    prose = [line for line in document.prose.splitlines() if not re.match(r" *(\||<|!\[)", line)]

    assert [line for line in prose if len(line) > 130] == []
