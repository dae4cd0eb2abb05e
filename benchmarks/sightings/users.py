"""Many users of the service, each with a token of their own."""

from benchmarks.contenders import Contender
from graph.access.tokens import Claims, SharedSecret
from graph.domains.sightings.scopes import SIGHTINGS_WRITE

EXPIRES_S = 3600


def tokens(service: Contender, number: int) -> list[str]:
    """The tokens of so many users, who may report and confirm."""
    secret = SharedSecret(service.environment["GRAPH_JWT_SECRET"], Claims())
    return [secret.issue(f"user-{each}", [SIGHTINGS_WRITE], EXPIRES_S) for each in range(number)]
