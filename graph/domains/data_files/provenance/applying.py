"""Writes the changes of an attempt, if what it has read still is so.

One transaction holds the run, what it generates, and its edges. If that is too much for one, three parts are written
before it, and none of them counts before the run's item is there:

* New files are registered and claimed, see `claims`. Nobody sees yet that a run has generated them.
* Other versions to generate are claimed.
* Edges to what it used have the id of a report that the run's item does not have yet.

The next attempt finds the first two done. So a crash leaves nothing of a run that is seen, and to record it again
completes it.
"""

from collections.abc import Sequence
from dataclasses import replace

from graph.domains.data_files.claims import IS_CLAIM, MAKER
from graph.domains.data_files.entities import FILE_REVISION, RUN, USED
from graph.domains.data_files.provenance.attempt import RunChanges, refusal, revision_key
from graph.domains.data_files.provenance.cycles import next_late_run
from graph.domains.data_files.references import Version
from graph.domains.data_files.writes import MOST_BYTES, packed, together, too_large, write_ahead
from graph.store.conditions import Absent, all_of, unchanged
from graph.store.contract import Action, Put, Update
from graph.store.entity import Key
from graph.store.values import InvalidItem
from graph.work.account import give_way


async def is_applied(attempt: RunChanges) -> bool:
    """Write the changes, unless others have changed the same meanwhile. Large ones take several attempts.

    Raises:
        BadUserInput: A new file fits no transaction.
    """
    limit = attempt.database.transaction_limit
    if attempt.claims_ahead and not attempt.files and (unclaimed := _unclaimed(attempt)):
        await _claim_ahead(attempt, unclaimed)
        return False
    too_many = attempt.claims_ahead or sum(write.size for write in attempt.files) > limit  # too many to be combined
    if attempt.files and (too_many or sum(write.byte_count for write in attempt.files) > MOST_BYTES):
        await _register_first(attempt)
        return False
    edges, rest = _edge_actions(attempt), _other_actions(attempt)
    if attempt.files and len(rest) > limit:
        await _register_first(attempt)
        return False
    whole = combined([*edges, *rest])
    if len(whole) <= limit:
        return not await attempt.database.transact(whole)
    for first in range(0, len(edges), limit):
        if await attempt.database.transact(edges[first : first + limit]):
            return False
    return not await attempt.database.transact(rest)


async def _register_first(attempt: RunChanges) -> None:
    """Register the new files, and claim those that the run generates."""
    limit = attempt.database.transaction_limit
    for write in attempt.files:
        await give_way()
        if not write.fits(limit) and not write.rest_fits(limit):
            raise refusal(write.version.name, too_large(write, limit))
    await write_ahead(attempt.database, attempt.files)
    generated = frozenset(attempt.generated)
    for some in packed(attempt.files, limit):
        made = [each for write in some if (each := write.version.reference) in generated]
        claims = [_early_claim(attempt, each) for each in made]
        if await attempt.database.transact(combined([*together(some), *claims])):
            return


def _unclaimed(attempt: RunChanges) -> list[str]:
    return [each for each in attempt.generated if attempt.stored[each].get(MAKER) != attempt.run["run-id"]]


async def _claim_ahead(attempt: RunChanges, references: Sequence[str]) -> None:
    """Claim versions. What another run has claimed is taken over, and that run notices by the number."""
    others = frozenset(attempt.others)
    at_once = attempt.database.transaction_limit - 1
    for first in range(0, len(references), at_once):
        some = references[first : first + at_once]
        claims: list[Action] = [_early_claim(attempt, each) for each in some]
        if attempt.late_number is not None and not others.isdisjoint(some):
            claims.append(next_late_run(attempt.late_number))
            attempt.late_number += 1
        if await attempt.database.transact(claims):
            return


def _early_claim(attempt: RunChanges, reference: str) -> Update:
    """Says that the run will have generated a version. Its maker must be the one that was read."""
    condition = unchanged(stored, MAKER) if (stored := attempt.stored.get(reference)) else None
    return Update(revision_key(reference), set={MAKER: attempt.run["run-id"], IS_CLAIM: True}, condition=condition)


def _edge_actions(attempt: RunChanges) -> list[Action]:
    """The edges to what the run used, which is marked as used."""
    run_id = attempt.run["run-id"]
    puts = [Put(USED, {"used": each, "run-id": run_id, "report": attempt.token}) for each in attempt.used]
    unused = [each for each in attempt.used if each in attempt.stored and "is-used" not in attempt.stored[each]]
    return [
        *puts,
        *(
            Update(revision_key(each), set={"is-used": True}, condition=unchanged(attempt.stored[each], "generated-by"))
            for each in unused
        ),
    ]


def _other_actions(attempt: RunChanges) -> list[Action]:
    """The run, the files, and what makes sure that no cycle comes about."""
    attempt.run["used"] = [*attempt.run["used"], *attempt.used]
    attempt.run["generated"] = [*attempt.run["generated"], *attempt.generated]
    attempt.run["reports"] = [*attempt.run["reports"], *([attempt.token] if attempt.used else [])]
    attempt.run["revision"] = attempt.run.get("revision", 0) + 1
    claimed = attempt.run["generated"] if attempt.used else attempt.generated
    changes_edges = attempt.used or attempt.generated
    return combined(
        [
            Put(RUN, attempt.run, condition=unchanged(attempt.before, "revision")),
            *together(attempt.files),
            *(_invalidation(attempt, write.version) for write in attempt.files if write.version.revision > 1),
            *(() if attempt.claims_ahead else (_claim(attempt, each) for each in claimed)),
            *([next_late_run(attempt.late_number)] if attempt.late_number is not None and changes_edges else []),
        ]
    )


def _invalidation(attempt: RunChanges, version: Version) -> Update:
    """Says which run has made a new revision of a file."""
    before = Version(version.name, version.revision - 1)
    return Update(FILE_REVISION.key_for(*before), set={"invalidated-by": attempt.run["run-id"]})


def _claim(attempt: RunChanges, reference: str) -> Update:
    """Says that the run has generated a version, which is used by no run unless it was before."""
    made = {MAKER: attempt.run["run-id"]}
    if (stored := attempt.stored.get(reference)) is None:  # it is registered by the same transaction
        return Update(revision_key(reference), set=made)
    is_unused = None if reference in attempt.late else Absent("is-used")
    return Update(revision_key(reference), set=made, condition=all_of(unchanged(stored, MAKER), is_unused))


def combined(actions: Sequence[Action]) -> list[Action]:
    """The actions, at most one for each item, which has the effect of all given ones on the item, in order."""
    by_key: dict[Key, Action] = {}
    for action in actions:
        before = by_key.get(action.key)
        by_key[action.key] = action if before is None else _one_of(before, action)
    return list(by_key.values())


def _one_of(first: Action, second: Action) -> Action:
    """Both actions as one. The condition of an action behind a put holds for what is put."""
    match first, second:
        case Update(), Update():
            return Update(
                first.key,
                set={**first.set, **second.set},
                add={**first.add, **second.add},
                condition=all_of(first.condition, second.condition),
            )
        case Put(), Update():
            return replace(first, item={**first.item, **second.set})
        case Put(), Put():
            return replace(second, condition=first.condition)
    raise InvalidItem("two writes at once to one item")
