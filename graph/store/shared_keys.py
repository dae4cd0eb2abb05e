"""Whether two entities can share a key. An item belongs to an entity by its key, so no two of a table may."""

from graph.store.entity import Entity
from graph.store.templates import KeyTemplate


def same_key(first: Entity, second: Entity) -> bool:
    """Whether items of the two entities could have the same primary key."""
    if first.table != second.table:
        return False
    one, other = first.templates[first.table.primary], second.templates[second.table.primary]
    return _may_meet(one.partition, other.partition) and _may_meet(one.sort, other.sort)


def _may_meet(one: KeyTemplate, other: KeyTemplate) -> bool:
    """Whether two templates could make the same key, judged by their beginnings and ends."""
    if one.key.type == "N":
        return True
    if not one.fields and not other.fields:
        return one.literals == other.literals
    for fixed, varying in ((one, other), (other, one)):
        if not fixed.fields:
            return varying.parse(fixed.literals[0]) is not None
    starts = one.literals[0], other.literals[0]
    ends = one.literals[-1], other.literals[-1]
    return (starts[0].startswith(starts[1]) or starts[1].startswith(starts[0])) and (
        ends[0].endswith(ends[1]) or ends[1].endswith(ends[0])
    )
