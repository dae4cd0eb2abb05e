"""What `docs/service-logs.md` shows, where the tests of all documents do not execute it, and its lists."""

from pathlib import Path

from graph.domains.service_logs.model import Problem
from tests.bearers import bearer
from tests.documents.markdown import document
from tests.domains.data_files.followed import block, fields, in_code
from tests.settings import Settings
from tests.subscribers import event_stream, live_service

PAGE = document("docs/service-logs.md")


async def test_the_subscription_sends_what_is_stored(tmp_path: Path) -> None:
    write = """mutation { writeLogs(input: {logs: [
        {service: "checkout", message: "Paid"}
        {service: "search", message: "Slow", level: WARN}
        {service: "checkout", message: "Refused", level: ERROR, metadata: {order: 18}}
    ]}) { accepted } }"""
    with live_service(Settings(store=f"sqlite:///{tmp_path}/live.db")) as service:
        async with event_stream(service.url, block(PAGE, "graphql", __file__), headers=bearer()) as stream:
            assert await stream.block() == b":"  # which says that the stream has begun
            assert service.http.post("/graphql", json={"query": write}).json() == {
                "data": {"writeLogs": {"accepted": 3}}
            }
            notice = (await stream.next_data())["serviceLogs"]

    assert (notice["node"]["message"], notice["node"]["metadata"], notice["dropped"]) == ("Refused", {"order": 18}, 0)


def test_the_table_of_rejections_is_complete() -> None:
    rows = PAGE.rows("Rejections and limits")

    assert [row[0].strip("`") for row in rows][: len(Problem)] == [problem.value for problem in Problem]


def test_the_fields_of_a_log_are_those_of_the_graph() -> None:
    named = [name for row in PAGE.rows("A log") for name in in_code(row[0])]

    assert sorted(named) == sorted(fields("type ServiceLog implements Node") - {"id", "requestLog"})
