"""Whatever data files answer, compiled functions answer it as the execution does.

That they do so for any selection is a rule of the compiled functions, see `tests/api/fast/test_equality.py`.
"""

from graph.app import schema_of
from graph.domains import DOMAINS
from graph.domains.data_files import DOMAIN
from tests.domains.data_files.schema.conftest import RUN_ID
from tests.domains.triggers.schema.probes import selection
from tests.schemas import schema
from tests.service import Service

WITHOUT = schema_of(tuple(domain for domain in DOMAINS if domain is not DOMAIN)).graphql
ROOTS = {
    "dataFile": '(name: "L0_CONS_file.PDS")',
    "dataFiles": '(first: 2, filter: {from: "2024-01-01", version: LATEST})',
    "calibrations": '(product: "L0", version: LATEST_MAJOR)',
    "run": f'(runId: "{RUN_ID}")',
    "affectedBy": '(calibration: "cal.nc", version: "1.0.0")',
}
"""Each root field that the domain adds, with its arguments."""


def test_all_fields_together_are_answered_alike(both: tuple[Service, Service]) -> None:
    assert schema.query_type is not None
    assert WITHOUT.query_type is not None
    assert schema.query_type.fields.keys() - WITHOUT.query_type.fields.keys() == ROOTS.keys()
    lineage = f"lineage(direction: BOTH, depth: 3) {selection(schema.type_map['Lineage'], 3)}"
    texts = {root: selection(schema.query_type.fields[root].type, 3) for root in ROOTS}
    for root, text in [*texts.items(), ("dataFile", f"{{ {lineage} }}")]:
        compiled, plain = (service.ask(f"{{ {root}{ROOTS[root]} {text} }}") for service in both)
        assert compiled == plain, root
        assert compiled[root]
