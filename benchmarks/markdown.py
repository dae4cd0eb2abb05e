"""Tables in Markdown."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with text in its first column and numbers in the others, padded to be readable as text."""
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    lines = [
        [
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in [head, *rows]
    ]
    rule = ["-" * widths[0], *(f"{'-' * (width - 1)}:" for width in widths[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], rule, *lines[1:]])
