"""What a subscription to a broadcast sends: `AsyncGenerator[Notice[FieldNote], None]` is the field's type.

In the schema, `Notice[FieldNote]` has the name `FieldNoteNotice`.
"""

from typing import Generic, TypeVar

import strawberry

NodeType = TypeVar("NodeType")


@strawberry.type(description="What a subscriber gets: a record, or how many were dropped.")
class Notice(Generic[NodeType]):
    record: NodeType | None = strawberry.field(name="node", description="The record; null where `dropped` is not 0.")
    cursor: str = strawberry.field(description="Where to go on, as `after`: behind the last record that was sent.")
    dropped: int = strawberry.field(
        description="How many records were left out here, since they came faster than the client took them."
    )
