"""The CloudFormation template of declared tables, by the judgement of cfn-lint."""

import subprocess
import sys
from pathlib import Path

from graph.domain import tables_of
from graph.domains import DOMAINS
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.store.choices import TableChoices
from graph.store.cloudformation import template
from tests.store.samples import READINGS, SAMPLES
from tests.store.test_cloudformation import LATER


def test_the_templates_have_no_findings_of_cfn_lint(tmp_path: Path) -> None:
    chosen = TableChoices(
        billing="provisioned",
        encryption="alias/ours",
        alarm_topic="arn:aws:sns:us-east-1:123456789012:ops",
        tags={"team": "seismology"},
    )
    for name, written in {
        "samples": template([SAMPLES]),
        "readings": template([READINGS]),
        "several": template([EARTHQUAKE_EVENTS, SAMPLES, LATER]),
        "service": template(tables_of(DOMAINS), region="us-east-1", choices=TableChoices(prefix="my-")),
        "chosen": template(tables_of(DOMAINS), choices=chosen),
    }.items():
        (tmp_path / f"{name}.json").write_text(written)

    linted = subprocess.run(
        [Path(sys.executable).with_name("cfn-lint"), *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (linted.returncode, linted.stdout) == (0, "")
