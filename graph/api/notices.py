"""The messages of a subscription to a broadcast: the field's type is `AsyncGenerator[Notice[FieldNote], None]`.

In the schema, `Notice[FieldNote]` is named `FieldNoteNotice`.
"""

from typing import Generic, TypeVar

import strawberry

NodeType = TypeVar("NodeType")


@strawberry.type(description="A message to a subscriber: a record, or the number of dropped records.")
class Notice(Generic[NodeType]):
    record: NodeType | None = strawberry.field(name="node", description="The record; null where `dropped` is not 0.")
    cursor: str = strawberry.field(
        description="The cursor of the last record that was sent: pass it as `after` to resume from there."
    )
    dropped: int = strawberry.field(
        description="How many records were dropped here, since the client did not read them fast enough."
    )
