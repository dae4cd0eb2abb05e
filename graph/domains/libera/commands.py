"""`quakegraph files register`: registers files and manifests, or prints what would be registered of them."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

import click
import orjson

from graph.command_line import CommandLine, progress_bar, shown_rejections, store_option
from graph.core import garbage
from graph.domain import Resources, Services
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.registering import Registration
from graph.domains.libera.collecting import CollectedFiles, PathRejection, collect
from graph.domains.libera.file_contents import FileProblem, read_source
from graph.domains.libera.registering import FileRegistering, FilesReport


@click.group()
def files() -> None:
    """Register data files and the runs that made them."""


@files.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--dry-run", is_flag=True, help="Print what would be registered, and leave the store alone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object, or one on each line of a dry run.")
@store_option
@click.pass_obj
def register(line: CommandLine, paths: tuple[str, ...], dry_run: bool, as_json: bool, store: str | None) -> None:
    """Register data files of Libera, and the runs that made them.

    A PATH is a data product, a file of Level 0, a construction record, an output manifest, or a
    folder of them. A name tells the level, the product, the version and the applicable days; a
    construction record also the gaps and the fill of its data set. SHA-256, MD5 and size are
    computed. The files of an output manifest are registered too, with the run that made them, and
    must have the MD5 checksums that it lists, where they are there. What is registered already is
    skipped, so any PATH can be registered again. The exit status is 1 if anything was rejected.

    \b
    Examples:
      quakegraph files register /data/L1B/2027/03/01
      quakegraph files register --dry-run LIBERA_OUTPUT_MANIFEST_01GDHWG4R0W8KXWY0KRDD6BZTT.json
    """
    garbage.settle()
    if dry_run:
        succeeded = _show_all(paths, as_json=as_json)
    else:
        succeeded = line.run(line.settings(store=store), partial(_register_all, paths=paths, as_json=as_json))
    raise SystemExit(0 if succeeded else 1)


async def _register_all(services: Services, *, paths: Sequence[str], as_json: bool) -> bool:
    """Register everything, and print what became of it. False if anything was rejected."""
    collected = await asyncio.to_thread(collect, paths)
    with progress_bar("files", len(collected.sources)) as advance:
        clock = services.of(Resources).clock
        registering = FileRegistering(services.of(DataFiles), services.of(Registration), services.of(Runs), clock)
        report = await registering.register(collected, advance)
    if as_json:
        click.echo(orjson.dumps(asdict(report)))
    else:
        click.echo("\n".join(_lines(report)))
    return not report.rejected


def _show_all(paths: Sequence[str], *, as_json: bool) -> bool:
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


def _runs(collected: CollectedFiles) -> Iterator[dict[str, object]]:
    for manifest in collected.manifests:
        if manifest.inputs is not None and manifest.files:
            yield {"id": str(manifest.name.run_id), "used": len(manifest.inputs), "generated": len(manifest.files)}
