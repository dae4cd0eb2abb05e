"""What programs write: files and runs."""

from dataclasses import replace

import strawberry

from graph.api import relay
from graph.api.context import Info
from graph.api.fields import field, shows
from graph.api.mutations import mutation
from graph.api.record_type import record_type, value_type
from graph.api.scalars import ByteCount
from graph.api.shown import InputOf, shown
from graph.api.sizes import ListSize
from graph.api.value_input import value_input
from graph.core.errors import BadUserInput
from graph.domains.data_files import model, new_files
from graph.domains.data_files.model import RegistrationReport, Run
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.registering import MOST_FILES, Registration
from graph.domains.data_files.schema import runs
from graph.domains.data_files.schema.loading import load_files
from graph.domains.data_files.scopes import FILES_READ, FILES_WRITE

value_input(new_files.SortableMetadata, "SortableMetadataInput")
value_input(new_files.AdditionalMetadata, "AdditionalMetadataInput")
value_input(new_files.CalibrationMetadata, "CalibrationInput")
value_input(NewFile, "DataFileInput", size=ByteCount)
value_input(UsedFile, "UsedFileInput")
value_input(RunReport, "RecordRunInput")


@strawberry.input(description="Files to register.")
class RegisterFilesInput:
    files: list[NewFile] = shows(f"At most {MOST_FILES:,}.", graphql_type=shown(list[NewFile], InputOf))


@record_type(model.RegisteredFile)
class RegisteredFile:
    @field("The file, as its latest revision is.", scope=FILES_READ, cost=2)
    @staticmethod
    async def file(registered: strawberry.Parent[model.RegisteredFile], info: Info) -> model.DataFile | None:
        return await info.context.loader(load_files, None).load(registered.name)


value_type(RegistrationReport, computed=["registered", "skipped", "rejected", "files"])


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
        return await info.context.service(Registration).register(input.files)

    @mutation(
        "Record a run with all that it used and generated: the whole run or nothing.",
        carries="run",
        scope=FILES_WRITE,
        cost=10,
    )
    async def record_run(self, info: Info, input: RunReport) -> Run:
        run_id = None if input.run_id is None else relay.key_of(runs.Run, input.run_id, "runId").lower()
        return await info.context.service(Runs).record(replace(input, run_id=run_id))
