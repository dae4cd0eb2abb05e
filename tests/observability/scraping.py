"""`/metrics` as Prometheus reads it: `scraped(service.url).value("quakegraph_requests", operation="query")`."""

from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.processes import TIMEOUT_S


@dataclass(frozen=True)
class Scrape:
    """What one scrape answered."""

    text: str
    samples: dict[tuple[str, frozenset[tuple[str, str]]], float]

    def value(self, name: str, **labels: str) -> float | None:
        """The sample of that name with exactly these labels; None where there is none."""
        return self.samples.get((name, frozenset(labels.items())))

    def all(self, name: str) -> dict[tuple[str, ...], float]:
        """Every sample of that name, by the values of its labels in the order of their names."""
        return {
            tuple(value for _, value in sorted(labels)): found
            for (named, labels), found in self.samples.items()
            if named == name
        }


def scraped(url: str) -> Scrape:
    """Scrape the service whose root is there."""
    answer = httpx.get(f"{url}/metrics", trust_env=False, timeout=TIMEOUT_S)
    assert answer.status_code == 200, answer.text
    return parsed(answer.text)


def parsed(text: str) -> Scrape:
    """Read the text format. A sample that comes twice is an error, as it is to Prometheus."""
    samples: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in samples, key
            samples[key] = sample.value
    return Scrape(text, samples)
