"""What registering a file changes, as actions of one transaction, and how many registrations one takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graph.domains.data_files.checking import FileDraft
from graph.domains.data_files.counts import CounterChanges, counted, counted_before
from graph.domains.data_files.entities import COUNTED, FILE, FILE_REVISION, MARK_LENGTH, ONLY_NAMED, PART
from graph.domains.data_files.references import Version
from graph.store.conditions import Absent, unchanged
from graph.store.contract import Action, Database, Delete, Put, Update
from graph.store.entity import Item, Key
from graph.store.values import written_bytes
from graph.work.account import give_way

INDEXED = frozenset({"applicable-date", "calibration-order"})  # of items by which their file is found
MOST_BYTES = 3_500_000  # of the items of one transaction; DynamoDB takes 4 MB, with keys and conditions
PLAIN = "plain-identifier"
_PARTS = "parts"


@dataclass(slots=True)
class FileWrite:
    """The registration of a revision."""

    version: Version
    file: Item  # as it is then
    actions: list[Action]
    counts: CounterChanges = field(default_factory=CounterChanges)
    ahead: list[Put] = field(default_factory=list)  # items of a new file that nobody sees before it is there

    @property
    def size(self) -> int:
        """The number of its actions, with those on counters."""
        return len(self.actions) + len(self.counts) + len(self.ahead)

    def mark_ahead(self) -> None:
        """Give the items to write ahead identifiers that they have in no registration of another content.

        So whichever registration comes first has the items that it wrote, and those of others are not seen.
        """
        mark = self.file["fingerprint"][:MARK_LENGTH]
        marked = {put.item["identifier"]: f"{put.item['identifier']}#{mark}" for put in self.ahead}
        self.file[_PARTS][:] = [marked.get(identifier, identifier) for identifier in self.file[_PARTS]]
        for put in self.ahead:
            identifier = put.item["identifier"]
            put.item |= {"identifier": marked[identifier], PLAIN: identifier}

    @property
    def byte_count(self) -> int:
        """The size of its items."""
        actions = (*self.actions, *self.ahead)
        return sum(written_bytes(action.item) for action in actions if isinstance(action, Put))

    def fits(self, limit: int) -> bool:
        """Whether it fits a transaction of so many actions."""
        return self.size <= limit and self.byte_count <= MOST_BYTES

    def rest_fits(self, limit: int) -> bool:
        """The same without the items of `ahead`, which may be written before."""
        return replace(self, ahead=[]).fits(limit)


def is_registered(draft: FileDraft, stored: Item | None) -> bool:
    """Whether a file is registered as it is. With two checksums, these decide."""
    if stored is None:
        return False
    known, new = stored.get("checksum"), draft.attributes.get("checksum")
    if known is not None and new is not None:
        return bool(known == new)
    return stored["fingerprint"] == draft.fingerprint or draft.fingerprint == ONLY_NAMED


def write_of(
    draft: FileDraft,
    stored: Item | None,
    parts: Mapping[str, Item],
    *,
    at: str,
    beside: Item | None = None,
    is_made: bool = False,
    is_used: bool = False,
) -> FileWrite:
    """The registration of a file that is not registered as it is.

    Args:
        stored: the latest revision.
        parts: the stored further items, by their identifiers.
        at: the time, as the table has it.
        beside: what adoption has counted of the file; None if no other program has written `parts`.
        is_made: whether a run generates it. Then it is new, though the file may have been named before.
        is_used: whether a run uses it at once.
    """
    before = stored["revision"] if stored else 0
    completes = stored is not None and stored["fingerprint"] == ONLY_NAMED and not is_made
    version = Version(draft.name, before if completes else before + 1)
    counts = counted(draft.parts.items())
    attributes = {**draft.attributes, "registered-at": at, "counted": dict(counts)}
    # An item of another program that is broken lacks a fingerprint, too. It is replaced.
    unread = unchanged(stored, "revision", "fingerprint") if stored else Absent("fingerprint")
    known = stored if completes and stored else {}
    file = {**known, **attributes, "revision": version.revision, _PARTS: list(draft.parts)}
    write = FileWrite(version, file, [Put(FILE, file, condition=unread)])
    if completes:
        values = {name: value for name, value in attributes.items() if name != "file-name"}
        write.actions.append(Update(_key(version), set=values))
    else:
        used = {"is-used": True} if is_used else {}
        write.actions.append(Put(FILE_REVISION, {**attributes, **used, "revision": version.revision}))
        if before:
            write.actions.append(Update(_key(Version(draft.name, before)), set={"invalidated-at": at}))
    _replace_parts(write, draft, parts)
    counts.subtract(counted_before(stored or {}, beside or {}))
    write.counts = CounterChanges(counts)
    if beside is not None:
        nothing = {"file-name": draft.name, "number": beside.get("number", 0) + 1}
        write.actions.append(Put(COUNTED, nothing, condition=unchanged(beside, "number")))
    return write


def version_write_of(draft: FileDraft, stored: Item) -> FileWrite:
    """Says which version of a dataset the latest revision is."""
    version = Version(draft.name, stored["revision"])
    named = {"dataset-version": draft.dataset_version}
    as_read = unchanged(stored, "revision", "dataset-version")
    latest = Update(FILE.key_for(draft.name), set=named, condition=as_read)
    return FileWrite(version, {**stored, **named}, [latest, Update(_key(version), set=named)])


def _replace_parts(write: FileWrite, draft: FileDraft, stored: Mapping[str, Item]) -> None:
    """Write the further items in place of those of the revision before."""
    removed = [identifier for identifier in stored if identifier not in draft.parts]
    write.actions += [Delete(PART.key_for(draft.name, identifier)) for identifier in removed]
    is_new = write.version.revision == 1
    for identifier, part in draft.parts.items():
        put = Put(PART, {**part, "file-name": draft.name, "identifier": identifier})
        if is_new and not part.keys() & INDEXED:
            write.ahead.append(put)
        else:
            write.actions.append(put)


def _key(version: Version) -> Key:
    return FILE_REVISION.key_for(*version)


def together(writes: Sequence[FileWrite]) -> list[Action]:
    """The actions of several registrations, with each counter once."""
    counts = CounterChanges()
    for write in writes:
        counts.merge(write.counts)
    return [*(action for write in writes for action in (*write.actions, *write.ahead)), *counts.updates()]


async def write_ahead(database: Database, writes: Sequence[FileWrite]) -> None:
    """Write the items of `ahead` now, for each registration that fits a transaction only without them."""
    limit = database.transaction_limit
    for write in writes:
        await give_way()
        if not write.fits(limit) and write.rest_fits(limit):
            write.mark_ahead()
            await database.put_many(write.ahead)
            write.ahead.clear()


def packed(writes: Sequence[FileWrite], limit: int) -> Iterator[list[FileWrite]]:
    """The registrations in order, in parts that fit a transaction. Each must fit one alone."""
    part: list[FileWrite] = []
    size, used, counts = 0, 0, CounterChanges()
    for write in writes:
        own, byte_count = len(write.actions) + len(write.ahead), write.byte_count
        too_many = size + own + counts.touched_with(write.counts) > limit
        if part and (too_many or used + byte_count > MOST_BYTES):
            yield part
            part, size, used, counts = [], 0, 0, CounterChanges()
        part.append(write)
        size += own
        used += byte_count
        counts.merge(write.counts)
    if part:
        yield part


def too_large(write: FileWrite, limit: int) -> str:
    """Why a registration fits no transaction."""
    return (
        f"It takes {write.size} writes of {write.byte_count} bytes at once, and the store takes {limit} "
        f"of {MOST_BYTES} bytes: register fewer days or items."
    )
