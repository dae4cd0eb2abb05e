"""Accounts for tests: `with charged_to(an_account()) as account`."""

from graph.work.account import Account, Work


async def free(points: int) -> None:
    """Charge nothing."""


def an_account(work: Work | None = None, caller: str = "a", most: int = 1_000_000) -> Account:
    """An account of one operation."""
    return Account(work or Work(), caller, most, free)
