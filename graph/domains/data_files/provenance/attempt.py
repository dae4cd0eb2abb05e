"""One attempt to record a report of a run: what was read decides what it changes.

report → the versions that it used and generates → checks for cycles → `applying`
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex

from graph.core.errors import BadUserInput
from graph.domains.data_files.checking import FileDraft, FileRefused, drafted
from graph.domains.data_files.claims import IS_CLAIM, MAKER, settle
from graph.domains.data_files.entities import FILE_REVISION, RUN
from graph.domains.data_files.errors import AlreadyGenerated, ProvenanceCycle, UnknownVersion
from graph.domains.data_files.model import LONGEST_NAME, REPORT_LENGTH, RunState
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.cycles import first_ancestor, late_runs
from graph.domains.data_files.provenance.edges import Edges
from graph.domains.data_files.provenance.reports import RunReport, UsedFile, run_after
from graph.domains.data_files.references import Version
from graph.domains.data_files.stored import RegisteredFiles
from graph.domains.data_files.writes import FileWrite, is_registered, write_of
from graph.store.client_input import check_input
from graph.store.contract import Database, Update
from graph.store.entity import Item, Key
from graph.store.values import InvalidItem
from graph.work.account import give_way


@dataclass(frozen=True, slots=True)
class Expected:
    """What a caller expects in the store: this run, and none of the files that the report registers.

    So neither is read. If the store has something else, the transaction does not apply.
    """

    run: Item | None  # None for a new run


@dataclass(slots=True)
class RunChanges:
    """A report's changes, decided by what was read."""

    database: Database
    edges: Edges
    before: Item | None
    run: Item
    token: str  # of the report, in the edges that it brings
    used: list[str] = field(default_factory=list)  # references that the report adds
    generated: list[str] = field(default_factory=list)  # likewise
    files: list[FileWrite] = field(default_factory=list)
    missing: list[NewFile] = field(default_factory=list)  # versions of datasets that it used and nobody has registered
    stored: dict[str, Item] = field(default_factory=dict)  # registered revisions of all of the run, by reference
    late: list[str] = field(default_factory=list)  # generated versions that were used before
    claims_ahead: bool = False  # whether the run, its claims and a number are more than a transaction takes
    late_number: int | None = None  # of such runs so far, if the run has to be the next one

    @classmethod
    async def of(
        cls,
        database: Database,
        edges: Edges,
        report: RunReport,
        run_id: str,
        drafts: Sequence[FileDraft],
        *,
        at: str,
        expected: Expected | None = None,
    ) -> "RunChanges":
        """Read what the report is about, unless it is expected, and decide what it changes.

        Raises:
            UnknownVersion, AlreadyGenerated, ProvenanceCycle: As `Runs.record`.
        """
        before = expected.run if expected else await database.get(RUN.key_for(run_id))
        attempt = cls(database, edges, before, run_after(before, report, run_id, at=at), token_hex(REPORT_LENGTH // 2))
        drafts = [*drafts, *await drafts_of(attempt._due_outputs(drafts))]
        used = (file.name for file in report.used if not (expected and file.new))
        names = {*used, *(draft.name for draft in drafts)}
        told: list[UsedFile | FileDraft] = [*report.used, *drafts]
        versions = [(each.name, each.dataset_version) for each in told if each.dataset_version]
        stored = await RegisteredFiles.of(database, names, versions, (file.name for file in report.used))
        made = await attempt._made(report.used, drafts, stored)
        attempt._use(report.used, stored, made, at)
        await attempt._generate(drafts, stored, at)
        await attempt._check()
        return attempt

    def _due_outputs(self, drafts: Sequence[FileDraft]) -> list[NewFile]:
        """The files that a completed run has named before, and generates now."""
        if self.run["state"] != RunState.COMPLETE.value:
            return []
        given = {draft.name for draft in drafts}
        named = [name for name in self.run["outputs"] if name not in given]
        return [NewFile(name=name, metadata={"run": self.run["run-id"]}) for name in named]

    async def _made(
        self, files: Sequence[UsedFile], drafts: Sequence[FileDraft], stored: RegisteredFiles
    ) -> dict[str, int]:
        """The revisions of used files that the run has generated, or has registered first, by the files' names."""
        made = {version.name: version.revision for each in self.run["generated"] if (version := Version.of(each))}
        used = {file.name for file in files} & stored.files.keys()
        both = [stored.files[draft.name] for draft in drafts if draft.name in used]
        latest = await self.edges.stored_revisions([Version.of_item(file).reference for file in both])
        own = [file for file in both if latest[Version.of_item(file).reference].get(MAKER) == self.run["run-id"]]
        return made | {file["file-name"]: file["revision"] for file in own}

    def _use(self, files: Sequence[UsedFile], stored: RegisteredFiles, made: Mapping[str, int], at: str) -> None:
        """Bind what the report used to versions. What it has used before stays bound to that version."""
        bound = {version.name: each for each in self.run["used"] if (version := Version.of(each))}
        used = {*self.run["used"], *self.used}
        for file in files:
            known = stored.files.get(file.name)
            named = stored.versions.get((file.name, file.dataset_version or ""))
            if file.dataset_version is not None and named is None:
                new = NewFile(name=file.name, namespace=file.namespace, dataset_version=file.dataset_version)
                self.missing.append(new)
                continue
            if file.revision is None and named is None and file.name in bound:
                continue
            if file.revision is not None:
                reference = Version(file.name, file.revision).reference
            elif named is not None:
                reference = Version.of_item(named).reference
            elif known is not None:
                # Of a file that the run has generated already, it used the revision before.
                latest = max(made[file.name] - 1, 1) if file.name in made else known["revision"]
                reference = Version(file.name, latest).reference
            elif file.may_be_unknown or file.new:
                write = _used_write(file, at)
                self.files.append(write)
                stored.files[file.name] = write.file  # so that what the run generates of it is the next revision
                reference = write.version.reference
            else:
                raise UnknownVersion(file.name, None)
            if reference not in used:
                used.add(reference)
                self.used.append(reference)
            bound[file.name] = reference

    async def _generate(self, drafts: Sequence[FileDraft], stored: RegisteredFiles, at: str) -> None:
        """Register what the run generates. It generates one revision of a file."""
        done = {version.name for each in self.run["generated"] if (version := Version.of(each))}
        for draft in drafts:
            await give_way()
            if draft.name in done:
                continue
            done.add(draft.name)
            known = self._known(draft, stored)
            maker = known.get("generated-by") if known else None
            if known is None or (draft.dataset_version and maker not in (None, self.run["run-id"])):
                write = await stored.write_of(draft, at=at, is_made=True)
                if known:  # the version of a dataset is its latest revision with it, so the one before gets another
                    before = FILE_REVISION.key_for(*Version.of_item(known))
                    write.actions.append(Update(before, set={"dataset-version": maker}))
                self.files.append(write)
                self.generated.append(write.version.reference)
            else:
                self.generated.append(Version.of_item(known).reference)

    def _known(self, draft: FileDraft, stored: RegisteredFiles) -> Item | None:
        """The registered revision that a file is."""
        if draft.dataset_version is not None:
            return stored.versions.get((draft.name, draft.dataset_version))
        latest = stored.files.get(draft.name)
        return latest if is_registered(draft, latest) else None

    async def _check(self) -> None:
        """Raise an error if a used version is unknown, a generated one is another run's, or there would be a cycle."""
        used = [*self.run["used"], *self.used]
        generated = [*self.run["generated"], *self.generated]
        check_input(RUN, **{**self.run, "used": used, "generated": generated})
        # With new edges, a run makes sure that nothing that it generated earlier was used meanwhile.
        claims = len(generated if self.used else self.generated)
        self.claims_ahead = 1 + claims + 1 > self.database.transaction_limit
        new = {write.version.reference for write in self.files}
        # Another writer may register the same revisions meanwhile. Then the transaction does not apply.
        await self._read_revisions({*self.used} - new, {*generated} - new)
        for each in self.used:
            if each not in self.stored and each not in new and (version := Version.of(each)):
                raise UnknownVersion(*version)
        await self._check_makers()
        self.late = [each for each in generated if self.stored.get(each, {}).get("is-used")]
        if not (self.used or self.generated):
            return
        inputs = frozenset(used)
        cyclic = next((each for each in generated if each in inputs), None)
        grows = self.used and self.run["generated"]  # what others make from it meanwhile is made from more
        if cyclic is None and (self.late or grows) and self.late_number is None:
            self.late_number = await late_runs(self.database)
        if cyclic is None and self.late:
            cyclic = await first_ancestor(self.edges, used, self.late)
        if cyclic is not None and (version := Version.of(cyclic)):
            raise ProvenanceCycle(version)

    async def _read_revisions(self, used: set[str], generated: set[str]) -> None:
        """Read what is registered of the run's revisions. With claims, the order matters, see `cycles`."""
        self.stored = await self.edges.stored_revisions(used | generated)
        if self.claims_ahead or any(IS_CLAIM in self.stored.get(each, ()) for each in self.others):
            self.late_number = await late_runs(self.database)
            self.stored |= await self.edges.stored_revisions(used)
            self.stored |= await self.edges.stored_revisions(generated)

    async def _check_makers(self) -> None:
        """Raise an error if a version is another run's. A claim that does not count may be taken over."""
        others = {each: dict(self.stored[each]) for each in self.others}
        await settle(self.database, others.values())
        for each, item in others.items():
            if MAKER in item and (version := Version.of(each)):
                raise AlreadyGenerated(version, item[MAKER])

    @property
    def others(self) -> list[str]:
        """Versions to generate that another run has generated, or claims."""
        makers = {each: self.stored.get(each, {}).get(MAKER) for each in self.generated}
        return [each for each, maker in makers.items() if maker not in (None, self.run["run-id"])]

    @property
    def changes_nothing(self) -> bool:
        """Whether the run is recorded as it is told."""
        return self.run == self.before and not self.used and not self.generated


def revision_key(reference: str) -> Key:
    """The key of the revision that a reference names."""
    version = Version.of(reference)
    if version is None:
        raise InvalidItem(f"{reference!r} names no version")
    return FILE_REVISION.key_for(*version)


async def drafts_of(files: Iterable[NewFile]) -> list[FileDraft]:
    """Check the files that a run generates; BadUserInput if one breaks a rule, since a run is recorded whole."""
    drafts = []
    for file in files:
        try:
            drafts.append(drafted(file))
        except FileRefused as refused:
            raise refusal(file.name, str(refused)) from refused
        await give_way()
    return drafts


def _used_write(file: UsedFile, at: str) -> FileWrite:
    """The registration of a file that a run uses, perhaps before anything else is known of it."""
    try:
        new = file.new or NewFile(name=file.name, namespace=file.namespace)
        draft = drafted(new, is_known=file.new is not None)
        return write_of(draft, None, {}, at=at, is_used=True)
    except FileRefused as refused:
        raise refusal(file.name, str(refused)) from refused


def refusal(name: str, why: str) -> BadUserInput:
    """The error for a file that cannot be registered."""
    return BadUserInput(f"{name[:LONGEST_NAME]!r}: {why}")
