"""Compiled functions: their errors show the lines that they were compiled of."""

import gc
import linecache
from traceback import extract_tb

import pytest

from graph.core.compilation import Namespace


def test_a_traceback_shows_the_line_of_a_compiled_function_as_long_as_it_exists() -> None:
    reciprocals = Namespace().define_list("numbers", "for number in numbers:", ["append(1 / number)"])
    other = Namespace().define("number", ["return number"])
    assert reciprocals([1, 2]) == [1, 0.5]

    with pytest.raises(ZeroDivisionError) as caught:
        reciprocals([other(0)])
    at = extract_tb(caught.value.__traceback__)[-1]
    assert at.line == "append(1 / number)"

    del reciprocals, caught
    gc.collect()
    assert at.filename not in linecache.cache
