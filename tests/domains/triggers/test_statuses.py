"""The statuses of an event: the document's transitions and no others."""

from itertools import product

import pytest

from graph.domains.triggers.errors import Conflict
from graph.domains.triggers.statuses import Transition, TriggerEventStatus, after
from tests.domains.triggers.model_event import DOCUMENTED, FAILED


def test_a_transition_leads_where_the_document_says_or_is_refused() -> None:
    for status, transition in product(TriggerEventStatus, Transition):
        allowed = [to for (begin, to), by in DOCUMENTED.items() if (begin, by) == (status, transition)]
        if allowed:
            assert [after(status, transition)] == allowed
        else:
            with pytest.raises(Conflict) as refused:
                after(status, transition)
            assert (refused.value.code, refused.value.status) == ("CONFLICT", 409)
            assert str(refused.value) == f"An event that is {status.value} cannot {transition.name.lower()}."
    with pytest.raises(Conflict):
        after(FAILED, Transition.RETRY, Transition.DELIVER, Transition.FAIL)
