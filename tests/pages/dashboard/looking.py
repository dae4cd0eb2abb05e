"""What tests look for on the dashboard with the week, whole or sparse."""

from playwright.async_api import Page, expect

WEEK = 2124  # events of the whole week
EVENTS = 185  # of the sparse one
EARTHQUAKES = 181  # of the sparse one, without its blasts
STRONG = 81  # of either, of magnitude 4.5 and more
CIRCLES = "svg .events circle[data-event-id]"


async def settled(page: Page, events: int = EVENTS) -> None:
    """Wait until everything that is asked for is shown."""
    await expect(page.locator("#summary")).to_contain_text(f"{events:,} event")
    await expect(page.locator("#map-caption")).to_contain_text(f"{min(events, 3000):,} event")
    await expect(page.locator("#magnitude-frequency-caption")).not_to_be_empty()
    await expect(page.locator("#list caption")).to_contain_text(f"of {events:,}")


async def rows(page: Page) -> list[str]:
    """The ids of the list's events, in order."""
    ids: list[str] = await page.locator("#list tbody tr").evaluate_all("rows => rows.map(row => row.dataset.eventId)")
    return ids
