"""Provenance as other programs read it: W3C PROV-JSON, OpenLineage events and STAC items."""

from graph.domain import Contribution, Domain
from graph.domains.data_files.schema.lineage import Lineage
from graph.domains.data_files.schema.revisions import DataFileRevision
from graph.domains.data_files.schema.runs import Run
from graph.domains.provenance_exports.schema import LineageExports, RevisionExports, RunExports

DOMAIN = Domain(
    name="provenance_exports",
    part_of="data_files",
    contributions=(
        Contribution(DataFileRevision, RevisionExports),
        Contribution(Lineage, LineageExports),
        Contribution(Run, RunExports),
    ),
)
