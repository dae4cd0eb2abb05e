"""Whether two entities can share a key. An item belongs to an entity by its key, so no two of a table may."""

from graph.store.design import Index
from graph.store.entity import Entity
from graph.store.templates import KeyTemplate


def same_key(first: Entity, second: Entity) -> bool:
    """Whether items of the two entities could have the same primary key."""
    if first.table != second.table:
        return False
    one, other = first.primary, second.primary
    return _may_meet(one.partition, other.partition) and _may_meet(one.sort, other.sort)


def same_partition(first: Entity, second: Entity, index: Index) -> bool:
    """Whether items of the two entities could be in the same partition of an index."""
    if first.table != second.table or index not in first.templates or index not in second.templates:
        return False
    return _may_meet(first.templates[index].partition, second.templates[index].partition)


def begin_alike(first: Entity, second: Entity) -> bool:
    """Whether the primary key of an item of one could begin as all those of the other do."""
    keys = zip(first.primary, second.primary, strict=True)
    return all(one.key.type == "N" or _begin_alike(one.literals[0], other.literals[0]) for one, other in keys)


def _may_meet(one: KeyTemplate, other: KeyTemplate) -> bool:
    """Whether two templates could make the same key, judged by their beginnings and ends."""
    if one.key.type == "N":
        return True
    if not one.fields and not other.fields:
        return one.literals == other.literals
    for fixed, varying in ((one, other), (other, one)):
        if not fixed.fields:
            return varying.parse(fixed.literals[0]) is not None
    ends = one.literals[-1], other.literals[-1]
    return _begin_alike(one.literals[0], other.literals[0]) and (ends[0].endswith(ends[1]) or ends[1].endswith(ends[0]))


def _begin_alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
