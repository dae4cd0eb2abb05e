"""The Gutenberg-Richter relation of a population, and what tells how far it can be trusted."""

from dataclasses import dataclass
from typing import Annotated

from graph.core.errors import BadUserInput
from graph.domains.statistics import assessment
from graph.domains.statistics.assessment import Confidence
from graph.domains.statistics.b_positive import BOverTime, BValueWindow, b_windows
from graph.domains.statistics.goodness_of_fit import GoodnessOfFit
from graph.domains.statistics.great_events import great_events
from graph.domains.statistics.gutenberg_richter import LEAST_EVENTS, GutenbergRichter
from graph.domains.statistics.networks import Mixture, mixture
from graph.domains.statistics.once import once
from graph.domains.statistics.population import Population, TooManyEvents
from graph.domains.statistics.reliability import Verdict, verdict
from graph.work.account import give_way

WINDOWS_AT_ONCE = 20
MOST_WINDOW_EVENTS = 100_000


@dataclass(frozen=True, eq=False, kw_only=True)
class MagnitudeRelation(GutenbergRichter):
    """The relation log10 N = a - b M, N being the number of events with at least magnitude M, estimated from the
    events at and above the magnitude of completeness."""

    population: Population

    @once
    async def networks(self) -> Mixture:
        """The networks of the events, or of a sample of many."""
        events = await self.population.sample()
        return mixture(zip(events.networks, events.tenths, strict=True), self.completeness)

    @once
    async def goodness_of_fit(self) -> GoodnessOfFit | None:
        """Whether the magnitudes are exponential; None without a b-value."""
        if self.b is None or self.completeness is None:
            return None
        return await assessment.goodness_of_fit(await self.population.tenths(), self.completeness)

    async def verdict(self) -> Verdict | None:
        """The reliability and the reason; None without a b-value."""
        fit = await self.goodness_of_fit()
        if not fit or self.b is None or self.completeness is None:
            return None
        great = great_events(await self.population.tenths(), self.completeness, self.b)
        return verdict(fit, await self.networks(), great)

    async def reason(self) -> str | None:
        """Why there is no b-value, or why it is not to be trusted."""
        if self.b is None:
            return self.no_estimate
        judged = await self.verdict()
        return judged.reason if judged else None

    async def bootstrap(self, confidence: Confidence = 0.95) -> assessment.ConfidenceInterval | None:
        """The interval of the b-value by resampling; None without one.

        Raises:
            BadUserInput: The confidence is not possible.
        """
        assessment.check_confidence(confidence)
        if self.b is None or self.completeness is None:
            return None
        return await assessment.bootstrap(await self.population.tenths(), self.completeness, confidence)

    async def over_time(
        self,
        events: Annotated[int, f"Events of each window at and above the completeness, {LEAST_EVENTS} or more."] = 200,
        step: Annotated[
            int | None,
            "Events from one window's start to the next one's; by default half a window.",
        ] = None,
    ) -> BOverTime:
        """The b-values of windows of so many events above the completeness.

        Raises:
            BadUserInput: A window or a step is not possible, or there are too many windows.
        """
        if not LEAST_EVENTS <= events <= MOST_WINDOW_EVENTS:
            raise BadUserInput(f"`events` must be from {LEAST_EVENTS} to {MOST_WINDOW_EVENTS:,}.")
        if step is not None and step < 1:
            raise BadUserInput("`step` must be at least 1.")
        read = await self.population.events()
        if self.completeness is None:
            return BOverTime(reason=self.no_estimate)
        if isinstance(read, TooManyEvents):
            return BOverTime(reason=read.reason)
        windows: list[BValueWindow] = []
        for window in b_windows(read.times, read.tenths, self.completeness, events, step or max(events // 2, 1)):
            windows.append(window)
            if len(windows) % WINDOWS_AT_ONCE == 0:
                await give_way()
        reason = None if windows else f"Fewer than {events} events reach the magnitude of completeness."
        return BOverTime(tuple(windows), reason)
