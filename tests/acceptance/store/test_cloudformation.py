"""The CloudFormation template of declared tables, by the judgement of cfn-lint."""

import subprocess
import sys
from pathlib import Path

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.store.cloudformation import template
from tests.store.samples import READINGS, SAMPLES
from tests.store.test_cloudformation import LATER


def test_the_templates_have_no_findings_of_cfn_lint(tmp_path: Path) -> None:
    for name, designs in {
        "samples": [SAMPLES],
        "readings": [READINGS],
        "several": [EARTHQUAKE_EVENTS, SAMPLES, LATER],
    }.items():
        (tmp_path / f"{name}.json").write_text(template(designs))

    linted = subprocess.run(
        [Path(sys.executable).with_name("cfn-lint"), *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (linted.returncode, linted.stdout) == (0, "")
