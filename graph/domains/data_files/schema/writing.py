"""What programs write: files and runs."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import strawberry
from strawberry.scalars import JSON

from graph.api import relay
from graph.api.context import Info
from graph.api.fields import field, optional, shows
from graph.api.mutations import mutation
from graph.api.record_type import record_type, value_type
from graph.api.scalars import ByteCount
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput
from graph.domains.data_files import model, new_files
from graph.domains.data_files.model import (
    FileRejection,
    RegistrationOutcome,
    RegistrationProblem,
    RegistrationReport,
    Run,
    RunState,
)
from graph.domains.data_files.new_files import NewFile, too_many_items
from graph.domains.data_files.provenance.recording import Runs, check_number
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.registering import MOST_FILES, Registration
from graph.domains.data_files.schema import runs
from graph.domains.data_files.schema.loading import load_files
from graph.domains.data_files.scopes import FILES_READ, FILES_WRITE
from graph.work.account import give_way


@strawberry.input(description="What the data of a file are.")
class SortableMetadataInput:
    type: str | None = optional("The type of the data, such as `APID11`.")
    applicable_dates: list[date] = shows("Every UTC day that they apply to.")
    first_packet_time: datetime | None = optional("As documented: the time of the first packet.")
    last_packet_time: datetime | None = optional("As documented: the time of the last packet.")
    missing_packet_count: int | None = optional("Packets that are missing.")
    filled_gap_count: int | None = optional("Gaps that were filled.")


@strawberry.input(description="An item of a file's further metadata.")
class AdditionalMetadataInput:
    identifier: str = shows("Its key, such as `PDS` or `APID11#SSC-GAPS`. Several items may have the same one.")
    attributes: JSON = shows("Its attributes, an object.")


@strawberry.input(description="What a calibration file calibrates.")
class CalibrationInput:
    calibrates: str = shows("The level or product, such as `L0`.")
    calibration_version: str = shows("The version of the calibration, such as `1.0.0`.")


@strawberry.input(description="A data file.")
class DataFileInput:
    name: str = shows("Its unique name, 1 to 400 characters, at most 1,000 bytes, without control characters.")
    level: str | None = optional("The level, such as `L1A`. A file with applicable dates needs one.")
    product: str | None = optional("The product.")
    archive_time: datetime | None = optional("As documented: when it was archived.")
    ingest_time: datetime | None = optional("As documented: when it was ingested.")
    algorithm_version: str | None = optional("The version of the algorithm that made it, such as `1.0.0`.")
    checksum: str | None = optional(
        "MD5, SHA-1, SHA-256 or SHA-512 of its content, hexadecimal digits. With another one than that of "
        "the file's latest revision, it is a new revision.",
    )
    size: ByteCount | None = optional("Its size, bytes.")
    url: str | None = optional("Where it is.")
    namespace: str | None = optional("Where it is, as OpenLineage names that.")
    applicable_dates: list[date] | None = optional(
        "Every UTC day that its data apply to, if they have no further sortable metadata."
    )
    metadata: JSON | None = optional("What else there is to tell of it, an object.")
    sortable: list[SortableMetadataInput] | None = optional("What its data are.")
    additional: list[AdditionalMetadataInput] | None = optional("Further metadata.")
    calibrations: list[CalibrationInput] | None = optional("What it calibrates, if it is a calibration.")

    def file(self, index: int) -> NewFile | FileRejection:
        """The file."""
        days = [self.applicable_dates or (), *(each.applicable_dates for each in self.sortable or ())]
        if message := too_many_items(days, self.additional or (), self.calibrations or ()):
            return FileRejection(index, self.name, RegistrationProblem.TOO_MANY_ITEMS, message)
        metadata: Any = self.metadata or {}
        objects = [metadata, *(each.attributes for each in self.additional or ())]
        if not all(isinstance(each, dict) for each in objects):
            return FileRejection(index, self.name, RegistrationProblem.METADATA_INVALID, "Metadata must be objects.")
        sortable = [new_files.SortableMetadata(**vars(each)) for each in self.sortable or ()]
        if self.applicable_dates:
            sortable.append(new_files.SortableMetadata(applicable_dates=self.applicable_dates))
        return NewFile(
            name=self.name,
            namespace=self.namespace,
            level=self.level,
            product=self.product,
            archive_time=self.archive_time,
            ingest_time=self.ingest_time,
            algorithm_version=self.algorithm_version,
            checksum=self.checksum,
            size=self.size,
            url=self.url,
            metadata=metadata,
            sortable=sortable,
            additional=[new_files.AdditionalMetadata(**vars(each)) for each in self.additional or ()],
            calibrations=[
                new_files.CalibrationMetadata(calibrates=each.calibrates, version=each.calibration_version)
                for each in self.calibrations or ()
            ],
        )


async def _files(given: Sequence[DataFileInput]) -> list[NewFile | FileRejection]:
    files = []
    for index, each in enumerate(given):
        files.append(each.file(index))
        await give_way()
    return files


@strawberry.input(description="Files to register.")
class RegisterFilesInput:
    files: list[DataFileInput] = shows(f"At most {MOST_FILES:,}.")


strawberry.enum(RegistrationOutcome, name="DataFileOutcome")


@record_type(model.RegisteredFile)
class RegisteredFile:
    @field("The file, as its latest revision is.", scope=FILES_READ, cost=2)
    @staticmethod
    async def file(registered: strawberry.Parent[model.RegisteredFile], info: Info) -> model.DataFile | None:
        return await info.context.loader(load_files, None).load(registered.name)


value_type(FileRejection, "DataFileRejection")
value_type(
    RegistrationReport, "RegisterFilesPayload", computed={"registered": 0, "skipped": 1, "rejected": 2, "files": 3}
)


@strawberry.input(description="A revision that a run used.")
class UsedFileInput:
    name: str = shows("The name of a registered file.")
    revision: int | None = optional("The number of the revision; by default the latest one, as of now.")


@strawberry.input(description="A run, or what is known of one so far.")
class RecordRunInput:
    algorithm: str = shows("The name of the algorithm.")
    version: str | None = optional("The version of the algorithm.")
    run_id: strawberry.ID | None = optional(
        "A UUID. A run that is recorded again with the same id is completed, never doubled."
    )
    state: RunState = shows("How it went.", default=RunState.COMPLETE)
    started_at: datetime | None = optional("When it began.")
    ended_at: datetime | None = optional("When it ended.")
    configuration_hash: str | None = optional("The hash of its configuration.")
    used: list[UsedFileInput] | None = optional("What it used, at most 1,000.")
    generated: list[DataFileInput] | None = optional(
        "What it generated. What is not registered as it is, is registered."
    )

    async def report(self) -> RunReport:
        """The report of the run; BadUserInput if it has too many files, or one that cannot be read."""
        check_number(self.used or (), self.generated or ())
        generated = await _files(self.generated or ())
        if refused := [file for file in generated if isinstance(file, FileRejection)]:
            raise BadUserInput(f"{refused[0].name!r}: {refused[0].message}")
        return RunReport(
            algorithm=self.algorithm,
            run_id=relay.key_of(runs.Run, self.run_id, "runId").lower() if self.run_id else None,
            version=self.version,
            state=self.state,
            started_at=self.started_at,
            ended_at=self.ended_at,
            configuration_hash=self.configuration_hash,
            used=[UsedFile(file.name, file.revision) for file in self.used or ()],
            generated=[file for file in generated if isinstance(file, NewFile)],
        )


class DataFileMutations:
    @mutation(
        "Register data files. To register the same files again is safe: those that are registered as they "
        "are, are skipped.",
        scope=FILES_WRITE,
        size=ListSize(slicing_arguments=["input.files"], sized_fields=["files", "rejections"]),
    )
    async def register_files(self, info: Info, input: RegisterFilesInput) -> RegistrationReport:
        if len(input.files) > MOST_FILES:
            raise BadUserInput(f"`files` takes at most {MOST_FILES:,} files.")
        return await info.context.service(Registration).register(await _files(input.files))

    @mutation(
        "Record a run with all that it used and generated: the whole run or nothing.",
        carries="run",
        scope=FILES_WRITE,
        cost=10,
    )
    async def record_run(self, info: Info, input: RecordRunInput) -> Run:
        return await info.context.service(Runs).record(await input.report())
