"""A plot on its own: a module of the web page in a figure of its own, with what a test gives it to show."""

from dataclasses import dataclass
from typing import Any

from playwright.async_api import Page, expect

from tests.acceptance.pages.dashboard.reports import TESTER, People
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


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot in a page of the service at an address."""

    page: Page
    url: str

    def statistics(self, where: dict[str, Any]) -> dict[str, Any]:
        """The service's statistics by day, as the web page asks for them."""
        data = People(self.url).ask(TESTER, documents()["Statistics"], filter=where, interval="DAY", binKm=5)
        statistics: dict[str, Any] = data["catalogueStatistics"]
        return statistics

    async def begin(self, module: str, *, width: int = 640, time_zone: str = "UTC", **shown: Any) -> None:
        """Put the plot over a page that shows no event, in place of the last one, and show what is given."""
        address = f"{self.url}/?minMagnitude=9"
        if self.page.url != address:
            await self.page.goto(address)
            await expect(self.page.locator("#summary")).to_have_text("No event matches these filters.")
        given = {"module": module, "maker": MAKERS[module], "width": width, "timeZone": time_zone}
        await self.page.evaluate(BEGIN, given)
        if shown:
            await self.show(**shown)

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
