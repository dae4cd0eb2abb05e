"""The GraphQL that the dashboard sends."""

import re

from graph.pages.dashboard import FILES


def documents() -> dict[str, str]:
    """The page's documents, put together as its module does, by the names of their operations."""
    source = FILES["documents.js"].read_text()
    texts = dict(re.findall(r"const (\w+) = `(.*?)`;", source, re.DOTALL))
    fragments = {name: text for name, text in texts.items() if text.startswith("fragment")}
    for name, text in fragments.items():
        source = source.replace(f"${{{name}}}", text)
    whole = [text for text in re.findall(r"const \w+ = `(.*?)`;", source, re.DOTALL) if text not in fragments.values()]
    return {re.split(r"\W", text)[1]: text for text in whole}
