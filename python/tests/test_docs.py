"""The examples of docs/python.md, of the pages below it and of docs/models.md."""

import doctest
import pathlib

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page, least", [("python.md", 18), ("models.md", 50)])
def test_examples(page, least):
    done = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert done.attempted > least and done.failed == 0
