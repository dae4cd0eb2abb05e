"""Where a compiled function finds the attributes of records, see `completion`."""

from collections.abc import Iterable

from graph.core.compilation import Namespace
from graph.store.rows import Columns


class AttributeSource:
    """Where a compiled function finds the attributes of records of one class."""

    def __init__(self, record_class: type, columns: Columns | None = None) -> None:
        """Take the columns of rows; None for records with items."""
        self.record_class = record_class
        self.columns = columns
        self.takes_record = columns is None  # or item
        self.at = {} if columns is None else {name: at for at, name in enumerate(columns.names)}

    def expression(self, namespace: Namespace, attribute: str, *, optional: bool = False) -> str | None:
        """The expression of a stored attribute; None if only a record has it."""
        if self.columns is None:
            return f"item.get({attribute!r})" if optional else f"item[{attribute!r}]"
        if attribute not in self.at:
            return None
        value, reading = f"c{self.at[attribute]}", self.columns.reading(attribute)
        return value if reading is None else _unless_none(namespace.constant("reading", reading), value)

    def refuse_missing(self, values: Iterable[object]) -> list[str]:
        """Lines that refuse attributes which a row lacks. An item raises KeyError."""
        missing = " or ".join(f"{value} is None" for value in values)
        return [f"if {missing}: raise Unplain"] if self.columns and missing else []

    def of_record(self, expression: str) -> str:
        """An expression that needs the record, which is `value`."""
        self.takes_record = True
        return expression

    @property
    def row(self) -> str:
        """The variables of a row."""
        width = 0 if self.columns is None else self.columns.width
        used = set(self.at.values())
        return "".join(f"c{at}, " if at in used else "_, " for at in range(width))


def _unless_none(function: str, value: str) -> str:
    return f"(None if {value} is None else {function}({value}))"
