"""The notebook python/examples/tour.ipynb, cell by cell."""

import pathlib

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")


def test_tour():
    page = pathlib.Path(__file__).parents[1] / "examples" / "tour.ipynb"
    book = nbformat.read(page, as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": "/"}}).execute()
    shown = [out for cell in book.cells for out in cell.get("outputs", []) if "data" in out]
    assert any("text/html" in out["data"] and "proven optimal" in out["data"]["text/html"] for out in shown)
    assert any("image/png" in out["data"] for out in shown)  # of plot
