"""Makes the report of a run from its output manifest. No I/O."""

from collections.abc import Sequence

from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.libera.manifests import Manifest


def run_of(manifest: Manifest, used: Sequence[UsedFile], generated: Sequence[NewFile]) -> RunReport:
    """The run of a manifest.

    Its algorithm is named by what it makes, `AZROT-CK+ELSCAN-CK`, since a manifest does not name it. Its version is
    that of its files, if they have the same one. A manifest has no times of the run.
    """
    versions = {file.algorithm_version for file in generated}
    return RunReport(
        run_id=str(manifest.name.run_id),
        algorithm="+".join(sorted({file.product for file in generated if file.product})),
        version=versions.pop() if len(versions) == 1 else None,
        configuration_hash=manifest.configuration_hash,
        facets={"manifest": str(manifest.name)},
        used=used,
        generated=generated,
    )
