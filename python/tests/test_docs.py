"""The examples of docs/python.md."""

import doctest
import pathlib


def test_examples():
    page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    done = doctest.testfile(str(page), module_relative=False)
    assert done.attempted > 15 and done.failed == 0
