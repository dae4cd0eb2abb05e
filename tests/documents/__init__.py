"""Tests that the documents are right: the README, docs/, and all other Markdown of the project."""
