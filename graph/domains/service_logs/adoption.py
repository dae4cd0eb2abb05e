"""Takes up the logs that other programs have written: counts them, and gives them numbers in the sequence of changes.

They are found before that, by their keys and by the index. Only counters, subscriptions and the list of services wait.
"""

from collections.abc import Callable, Hashable, Sequence

from graph.domains.service_logs.entities import ADOPTION, CHANGES, SERVICE_LOG
from graph.domains.service_logs.model import is_shard, node_key, service_of
from graph.domains.service_logs.volumes import VolumeTally, minutes_of
from graph.domains.service_logs.writing import SECOND_NS, LogWriter, in_transactions
from graph.feed.adoption import Adoption, adopt_by
from graph.feed.sequence import Reservation
from graph.store.conditions import Absent, AllOf, Condition, unchanged
from graph.store.contract import Action, Update
from graph.store.entity import Item

NOT_ADOPTED = Absent(CHANGES.number)
COUNTED_BY = ("log_type", "level", "ttl")


async def adopt(writer: LogWriter, logs: Sequence[Item]) -> None:
    """Count logs of other programs, and number them."""
    names = {log["service_name"] for log in logs}
    spread = {service_of(name) for name in names if is_shard(name)}
    await writer.services.ensure({service_of(name) for name in names}, spread)
    for part in in_transactions(logs, writer.database.transaction_limit, _minutes_of):
        while part and (refused := await writer.sequence.transact(_actions_of(part))):
            part = [log for at, log in enumerate(part) if at not in refused]  # adopted, replaced or removed meanwhile


ADOPT_LOGS = Adoption(SERVICE_LOG, ADOPTION, NOT_ADOPTED, adopt_by(LogWriter, adopt))


def _actions_of(logs: Sequence[Item]) -> Callable[[Reservation], Sequence[Action]]:
    tally = VolumeTally()
    for log in logs:
        tally.add(service_of(log["service_name"]), log["log_type"], _second(log), log["level"], log.get("ttl"))
    counters = tally.updates()
    keys = [node_key(log["service_name"], log["timestamp"]) for log in logs]
    last_ttl = None if any("ttl" not in log for log in logs) else max(log["ttl"] for log in logs)

    def numbered(reservation: Reservation) -> list[Action]:
        number = {CHANGES.number: reservation.number}
        updates = [Update(SERVICE_LOG.key_of(log), set=number, condition=_is_still(log)) for log in logs]
        return [*updates, *counters, *reservation.actions(keys, ttl=last_ttl)]

    return numbered


def _is_still(log: Item) -> Condition:
    """Whether a log is not adopted, and what counts of it has not changed."""
    return AllOf((NOT_ADOPTED, unchanged(log, "log_id", *COUNTED_BY)))


def _minutes_of(log: Item) -> Hashable:
    return service_of(log["service_name"]), log["log_type"], *minutes_of(_second(log), log.get("ttl"))


def _second(log: Item) -> int:
    return int(log["time_unix_nano"]) // SECOND_NS
