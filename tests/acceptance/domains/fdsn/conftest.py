"""The service with a history of the first tier's tests."""

from tests.domains.fdsn.conftest import revised as revised
