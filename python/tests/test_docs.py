"""The examples of docs/python.md, of the pages below it and of docs/models.md, and docstrings."""

import doctest
import inspect
import pathlib

import coalesce
import coalesce.commands
import coalesce.lapx
import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page, least", [("python.md", 18), ("models.md", 50)])
def test_examples(page, least):
    done = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert done.attempted > least and done.failed == 0


def test_docstrings():
    """Every public function, class, method and property has one."""
    lacking, seen = [], 0
    for module in (coalesce, coalesce.lapx, coalesce.commands):
        for name in getattr(module, "__all__", [n for n in dir(module) if not n.startswith("_")]):
            thing = getattr(module, name)
            if not callable(thing) or not getattr(thing, "__module__", "").startswith("coalesce"):
                continue
            members = [(k, getattr(thing, k)) for k, v in vars(thing).items() if not k.startswith("_") and (callable(v) or hasattr(v, "__get__"))] if inspect.isclass(thing) else []
            for path, one in [(name, thing)] + [(f"{name}.{k}", member) for k, member in members]:
                seen += 1
                if not (inspect.getdoc(one) or "").strip():
                    lacking.append(f"{module.__name__}.{path}")
    assert seen > 120 and not lacking
