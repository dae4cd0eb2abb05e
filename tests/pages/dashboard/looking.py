"""What tests look for on the dashboard with the week, whole or sparse."""

import asyncio
from typing import Any

from playwright.async_api import Page, expect

from tests.processes import TIMEOUT_S

WEEK = 2124  # events of the whole week
EVENTS = 185  # of the sparse one
EARTHQUAKES = 181  # of the sparse one, without its blasts
STRONG = 81  # of either, of magnitude 4.5 and more


async def settled(page: Page, events: int = EVENTS) -> None:
    """Wait until everything that is asked for is shown."""
    await expect(page.locator("#summary")).to_contain_text(f"{events:,} event")
    await drawn(page, min(events, 3000))
    await expect(page.locator("#magnitude-frequency-caption")).not_to_be_empty()
    await expect(page.locator("#list .caption")).to_contain_text(f"of {events:,}")


async def drawn(page: Page, events: int) -> None:
    """Wait until so many events are drawn one by one."""
    await expect(page.locator("main")).to_have_attribute("data-drawn", str(events))


async def items(page: Page) -> list[str]:
    """The ids of the list's events, in order."""
    ids: list[str] = await page.locator("#list li").evaluate_all("items => items.map(item => item.dataset.eventId)")
    return ids


async def with_filters(page: Page) -> None:
    """Open the filters, if they are not."""
    if await page.locator("#more-filters").get_attribute("open") is None:
        await page.locator("#more-filters summary").click()


async def becomes(page: Page, expression: str, expected: Any) -> None:
    """Wait until an expression of JavaScript has this value."""
    async with asyncio.timeout(TIMEOUT_S):
        while (found := await page.evaluate(expression)) != expected:
            await page.evaluate("new Promise(requestAnimationFrame)")
    assert found == expected


async def is_drawn(page: Page, event_id: str, *, drawn: bool = True) -> None:
    """Wait until an event is drawn, or is not."""
    await becomes(
        page,
        f"document.querySelector('main').shown?.events.some(({{ eventId }}) => eventId === '{event_id}') ?? false",
        drawn,
    )


async def colour_of(page: Page, event_id: str) -> str:
    """The class of colour that an event is drawn with."""
    found: str = await page.evaluate(
        """id => {
          const { events, colouring } = document.querySelector("main").shown;
          return colouring.of(events.find(({ eventId }) => eventId === id));
        }""",
        event_id,
    )
    return found
