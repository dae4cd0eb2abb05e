"""The command `quakegraph files register`."""

from functools import partial

import click

from graph.command_line import CommandLine, store_option
from graph.core import garbage
from graph.domains.libera.register_command import register_all, show_all


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
        succeeded = show_all(paths, as_json=as_json)
    else:
        succeeded = line.run(line.settings(store=store), partial(register_all, paths=paths, as_json=as_json))
    raise SystemExit(0 if succeeded else 1)
