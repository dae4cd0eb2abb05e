"""What `docs/service-logs.md` shows, where the tests of all documents do not execute it, and its lists."""

from pathlib import Path

from graph.domains.service_logs.model import LogProblem
from tests.documents.pages import Page, fields_of, sent
from tests.settings import Settings

PAGE = Page.followed_by(__file__, "docs/service-logs.md")
WRITE = """mutation { writeServiceLogs(input: {logs: [
    {service: "checkout", message: "Paid"}
    {service: "search", message: "Slow", level: WARN}
    {service: "checkout", message: "Refused", level: ERROR, metadata: {order: 18}}
]}) { accepted } }"""


async def test_the_subscription_sends_what_is_stored(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path / 'live.db'}")
    notice = await PAGE.first_notice(settings, lambda service: sent(service, WRITE))

    assert (notice["node"]["message"], notice["node"]["metadata"], notice["dropped"]) == ("Refused", {"order": 18}, 0)


def test_the_lists_of_rejections_and_of_fields_are_complete() -> None:
    assert PAGE.names("Rejections and limits")[: len(LogProblem)] == [problem.value for problem in LogProblem]
    assert sorted(PAGE.names("A log")) == sorted(fields_of("ServiceLog") - {"id", "requestLog"})
