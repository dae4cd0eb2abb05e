"""The kinds of changes that a watch tells apart."""

from collections.abc import Mapping
from enum import Enum

from graph.domains.earthquakes.revisions.versions import RevisionKind


class ChangeKind(Enum):
    """What happened to an event of the catalogue."""

    CREATED = "CREATED"
    REVISED = "REVISED"
    DELETED = "DELETED"


OF_REVISION: Mapping[RevisionKind, ChangeKind] = {
    RevisionKind.CREATED: ChangeKind.CREATED,
    RevisionKind.REVISED: ChangeKind.REVISED,
    RevisionKind.RENAMED: ChangeKind.REVISED,
    RevisionKind.RESTORED: ChangeKind.REVISED,
    RevisionKind.DELETED: ChangeKind.DELETED,
    RevisionKind.MERGED: ChangeKind.DELETED,
}
"""Kind of a version → kind of the change."""
