"""The messages of a subscription to a broadcast: the field's type is `AsyncGenerator[Notice[FieldNote], None]`.

In the schema, `Notice[FieldNote]` is named `FieldNoteNotice`. The kind of each is CREATED. Where records change, a
subclass has kinds of its own, and the node as it is now.
"""

from typing import Annotated, Any, Generic, TypeVar

import strawberry

from graph.api import relay
from graph.core.described import DescribedText
from graph.feed.broadcast import SubscriberMessage

NodeType = TypeVar("NodeType")
Message = strawberry.Parent[SubscriberMessage[Any]]
After = Annotated[str | None, "A cursor of a notice or an edge: begin after its record."]


class NoticeKind(DescribedText):
    """What has happened to a record that never changes."""

    CREATED = "CREATED", "It was stored."


@strawberry.type(description="A message to a subscriber: a record, or the number of dropped records.")
class Notice(Generic[NodeType]):
    @strawberry.field(description="What has happened; null where `dropped` is not 0.")
    @staticmethod
    def kind(message: Message) -> NoticeKind | None:
        return NoticeKind.CREATED if message.record else None

    @strawberry.field(description="The record as it is now; null if it is gone, or where `dropped` is not 0.")
    @staticmethod
    def node(message: Message) -> NodeType | None:
        return message.record

    @strawberry.field(description="The node's global id, also if it is gone; null where `dropped` is not 0.")
    @staticmethod
    def node_id(message: Message) -> strawberry.ID | None:
        return relay.global_id(*message.record.identity) if message.record else None

    matches: bool | None = strawberry.field(
        description="Whether the node passes the subscription's filter now: if it does not, take it out of a list that "
        "has it. Null where `dropped` is not 0."
    )
    cursor: str = strawberry.field(
        description="The cursor of the last record that was sent: pass it as `after` to resume from there."
    )
    dropped: int = strawberry.field(
        description="How many records were dropped here, since the client did not read them fast enough."
    )
