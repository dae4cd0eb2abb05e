"""A plot on its own: a module of the web page in a figure of its own, with what a test gives it to show."""

from dataclasses import dataclass
from typing import Any

import httpx
from playwright.async_api import Page, expect

from tests.pages.dashboard.documents import documents

BEGIN = """
async ({ module, maker, width, timeZone }) => {
  const root = document.querySelector("script[type=module]").src.replace(/main\\.js$/, "");
  const { [maker]: make } = await import(`${root}plots/${module}.js`);
  const { byAge, byDepth, extent } = await import(`${root}scales.js`);
  document.querySelector("#tested")?.remove();
  const figure = document.createElement("figure");
  figure.id = "tested";
  for (const [name, className] of [["h2", ""], ["div", "plot"], ["figcaption", ""]]) {
    const part = document.createElement(name);
    part.className = className;
    figure.append(part);
  }
  figure.querySelector("h2").textContent = "Tested";
  Object.assign(figure.style, {
    position: "fixed", top: "0", left: "0", width: `${width}px`, margin: "0", zIndex: "9", background: "canvas",
  });
  document.body.append(figure);
  window.heard = [];
  const hear = (name) => (...given) => window.heard.push([name, ...given]);
  window.tested = make(figure, { onSelect: hear("select"), onRange: hear("range"), timeZone: () => timeZone });
  window.show = ({ colour, ...shown }) => {
    const colouring = colour === "depth" ? byDepth() : byAge(...extent(shown.events ?? [], "eventTsMs"));
    window.tested.show({ ...shown, colouring });
  };
}
"""
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Two frames, after which what was changed is drawn."""
MAKERS = {
    "magnitude_time": "magnitudeTime",
    "event_rates": "eventRates",
    "depth_section": "depthSection",
    "magnitude_frequency": "magnitudeFrequency",
}
EVENTS = "{ nodes { eventId eventTsMs mag place lat lon depth type url } }"


def asked(url: str, query: str, variables: dict[str, Any]) -> dict[str, Any]:
    """The data of the service's answer."""
    answer = httpx.post(f"{url}/graphql", json={"query": query, "variables": variables}).json()
    assert "errors" not in answer, answer
    data: dict[str, Any] = answer["data"]
    return data


def statistics_of(url: str, where: dict[str, Any], *, interval: str = "DAY") -> dict[str, Any]:
    """The statistics, as the web page asks for them."""
    variables = {"filter": where, "interval": interval, "binKm": 5}
    statistics: dict[str, Any] = asked(url, documents()["Statistics"], variables)["catalogueStatistics"]
    return statistics


def events_of(url: str, where: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a filter, newest first, at most 1,000."""
    query = f"query Nodes($filter: EventFilter) {{ events(filter: $filter, first: 1000) {EVENTS} }}"
    nodes: list[dict[str, Any]] = asked(url, query, {"filter": where})["events"]["nodes"]
    return nodes


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot in a page."""

    page: Page

    @classmethod
    async def begun(cls, page: Page, url: str, module: str, *, width: int = 640, time_zone: str = "UTC") -> "Plot":
        """Put a plot over a page that shows no event, in place of the last one."""
        address = f"{url}/?minMagnitude=9"
        if page.url != address:
            await page.goto(address)
            await expect(page.locator("#summary")).to_have_text("No event matches these filters.")
        given = {"module": module, "maker": MAKERS[module], "width": width, "timeZone": time_zone}
        await page.evaluate(BEGIN, given)
        return cls(page)

    async def show(self, **shown: Any) -> None:
        """Show it, and wait until it is drawn, unless there is nothing to draw."""
        await self.page.evaluate("shown => window.show(shown)", shown)
        if await self.page.locator("#tested .plot[data-empty]").count() == 0:
            await self.page.locator("#tested .plot .u-over").wait_for()
            await self.page.evaluate(FRAMES)

    async def caption(self) -> str:
        """What its caption says."""
        return await self.page.locator("#tested figcaption").inner_text()

    async def of_plot(self, expression: str) -> Any:
        """The value of an expression of `plot`, the instance of uPlot."""
        return await self.page.evaluate(
            f"() => {{ const {{ plot }} = document.querySelector('#tested'); return {expression}; }}"
        )

    async def at(self, x: float, y: float) -> tuple[float, float]:
        """Where values are in the window, px."""
        left, top = await self.of_plot(
            f"(({{ left, top }}) => [left + plot.valToPos({x}, 'x'), top + plot.valToPos({y}, 'y')])"
            "(plot.over.getBoundingClientRect())"
        )
        return left, top

    async def heard(self) -> list[Any]:
        """What it has called back."""
        heard: list[Any] = await self.page.evaluate("window.heard")
        return heard
