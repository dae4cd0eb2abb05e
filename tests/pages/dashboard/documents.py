"""The GraphQL that the dashboard sends."""

import re

from graph.pages.dashboard import FILES


def documents() -> dict[str, str]:
    """The page's documents, put together as its module does, by the names of their operations."""
    source = FILES["documents.js"].read_text()
    texts = dict(re.findall(r"const (\w+) = `(.*?)`;", source, re.DOTALL))
    whole = (text.replace("${EVENT}", texts["EVENT"]) for name, text in texts.items() if name != "EVENT")
    return {re.split(r"\W", text)[1]: text for text in whole}
