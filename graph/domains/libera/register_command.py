"""`quakegraph files register`: prints what becomes of files and manifests, or what would be registered of them."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click
import orjson

from graph.command_line import progress_bar, shown_rejections
from graph.domain import Services
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.registering import Registration
from graph.domains.libera.collecting import Collected, PathRejection, collect
from graph.domains.libera.file_contents import FileProblem, read_source
from graph.domains.libera.registering import FileRegistering, FilesReport


async def register_all(services: Services, *, paths: Sequence[str], as_json: bool) -> bool:
    """Register everything, and print what became of it. False if anything was rejected."""
    collected = await asyncio.to_thread(collect, paths)
    with progress_bar("files", len(collected.sources)) as advance:
        registering = FileRegistering(services.of(DataFiles), services.of(Registration), services.of(Runs))
        report = await registering.register(collected, advance)
    if as_json:
        click.echo(orjson.dumps(asdict(report)))
    else:
        click.echo("\n".join(_lines(report)))
    return not report.rejected


def show_all(paths: Sequence[str], *, as_json: bool) -> bool:
    """Print what would be registered, without a look at the store. False if anything would be rejected."""
    collected = collect(paths)
    rejections = list(collected.rejections)
    for source in collected.sources.values():
        try:
            file = read_source(source)
        except FileProblem as problem:
            rejections.append(PathRejection(source.shown, str(problem)))
        else:
            click.echo(orjson.dumps({"file": asdict(file)}) if as_json else _line(file))
    for run in _runs(collected):
        click.echo(
            orjson.dumps({"run": run}) if as_json else "run {id}: {used} used, {generated} generated".format(**run)
        )
    for ignored in collected.ignored_paths:
        click.echo(orjson.dumps({"ignored": asdict(ignored)}) if as_json else _rejection(ignored))
    for rejection in rejections:
        click.echo(orjson.dumps({"rejection": asdict(rejection)}) if as_json else _rejection(rejection))
    return not rejections


def _lines(report: FilesReport) -> list[str]:
    summary = (
        f"{report.registered:,} registered, {report.skipped:,} skipped, {report.ignored:,} ignored, "
        f"{report.rejected:,} rejected; runs: {report.runs:,}"
    )
    rejected = shown_rejections([_rejection(each) for each in report.rejections], report.rejected)
    return [summary, *rejected, *shown_rejections([_rejection(each) for each in report.ignored_paths], report.ignored)]


def _rejection(rejection: PathRejection) -> str:
    return f"{rejection.path}: {rejection.message}"


def _line(file: NewFile) -> str:
    """A file in words, with what is known of it."""
    days = sorted({day for part in file.sortable for day in part.applicable_dates})
    told = {
        "level": file.level,
        "product": file.product,
        "version": file.algorithm_version,
        "days": ",".join(day.isoformat() for day in days),
        "bytes": file.size,
        "checksum": file.checksum,
        "items": len(file.additional),
        "calibrates": ",".join(each.calibrates for each in file.calibrations),
    }
    return " ".join([file.name, *(f"{name}={value}" for name, value in told.items() if value)])


def _runs(collected: Collected) -> Iterator[dict[str, object]]:
    for manifest in collected.manifests:
        if manifest.inputs is not None and manifest.files:
            yield {"id": str(manifest.name.run_id), "used": len(manifest.inputs), "generated": len(manifest.files)}
