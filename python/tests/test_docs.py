"""The examples of docs/python.md and of the pages below it."""

import doctest
import pathlib

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page, least", [("python.md", 18)])
def test_examples(page, least):
    done = doctest.testfile(str(DOCS / page), module_relative=False)
    assert done.attempted > least and done.failed == 0
