"""The service with a history of the first tier's tests."""

from tests.domains.earthquakes.fdsn.conftest import revised as revised
