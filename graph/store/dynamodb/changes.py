"""Being told of a table's changes by its stream, and where that cannot be read, ringing once a second instead.

Who is told of a change that there is none of has looked in vain, and who is not told of one waits
for ever. So whatever goes wrong here, known or not, makes this slower and never ends it.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

from graph.observability.logs import get_logger
from graph.store.dynamodb.client import Connected, Streams, open_streams
from graph.store.dynamodb.errors import (
    NETWORK,
    OUTAGE,
    OVERLOAD,
    REFUSED,
    STREAMLESS,
    UNKNOWN,
    advice_on,
)
from graph.store.dynamodb.retry_policy import RetryPolicy
from graph.store.dynamodb.shards import NoStream, Shards

ROUND_S = 0.25  # between two readings of a shard, each of which is charged
SWEEP_S = 1.0  # between two rings while the stream cannot be read
MOST_SWEEPS = 10  # between two attempts to read it; a first failure has one
PASSING = frozenset({OVERLOAD, OUTAGE, NETWORK})
"""After these the reading goes on where it was; after all else it begins anew."""

logger = get_logger(__name__)


async def changes(table: str, connection: Connected, retry_policy: RetryPolicy) -> AsyncGenerator[None, None]:
    """Yields after the first reading, and each that found records, failed, or is the first not to fail again."""
    client: Streams | None = None
    shards: Shards | None = None
    failures, told = 0, set[str]()
    async with AsyncExitStack() as stack:
        while True:
            try:
                client = client or await stack.enter_async_context(open_streams(connection, retry_policy))
                shards = shards or Shards(client, await _stream(table, connection))
                changed = await shards.read() or failures > 0
                failures = 0
            except Exception as error:
                failures += 1
                advice = STREAMLESS if isinstance(error, NoStream) else advice_on(error) or REFUSED
                if advice not in PASSING:
                    shards = None
                if advice not in told:
                    told.add(advice)
                    _tell(table, advice, error)
            if not failures:
                if changed:
                    yield
                await retry_policy.sleep(ROUND_S)
            for _ in range(min(failures, MOST_SWEEPS)):
                yield
                await retry_policy.sleep(SWEEP_S)


async def _stream(table: str, connection: Connected) -> str:
    described = (await connection.client.describe_table(TableName=table))["Table"]
    if not described.get("StreamSpecification", {}).get("StreamEnabled"):
        raise NoStream
    return described["LatestStreamArn"]


def _tell(table: str, advice: str, error: Exception) -> None:
    said = f" ({type(error).__name__}: {error})" if str(error) else ""
    logger.warning(
        "Changes are looked for once a second",
        cause=f"the stream of table {table} cannot be read: it {advice}{said}",
        exc_info=advice == UNKNOWN,
    )
