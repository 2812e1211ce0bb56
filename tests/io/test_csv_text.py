"""No cell of a CSV file is executed by a spreadsheet, and each is known again."""

import csv
import io

import pytest

from bhmc._io.csv_text import as_it_was, csv_text, harmless

DANGEROUS = [
    "=cmd|' /C calc'!A0",
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(A1:A2)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "＝1+1",  # noqa: RUF001 - an equals sign of East Asia
    "-",
    "'=1+1",
    "''=1+1",
    "'-3",
]
HARMLESS = [
    "ant",
    "",
    "a=b",
    "3",
    "-3",
    "+4.5",
    "-.5e-3",
    "1e5",
    "'tis",
    "''",
    " =1",
    None,
    -2.5,
    -7,
]


@pytest.mark.parametrize("cell", DANGEROUS)
def test_what_would_be_executed_gets_an_apostrophe(cell):
    assert harmless(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", HARMLESS)
def test_all_else_stays(cell):
    assert harmless(cell) is cell


def test_every_cell_is_known_again():
    cells = [*DANGEROUS, *HARMLESS]
    cells += [harmless(cell) for cell in cells]
    assert [as_it_was(harmless(cell)) for cell in cells] == cells
    assert len({harmless(cell) for cell in cells}) == len(set(cells))


@pytest.mark.parametrize("raw", [False, True])
def test_headers_and_rows(raw):
    text = csv_text(["=a", "b"], [("=1+1", -1.5), ("x", None)], raw=raw)
    mark = "" if raw else "'"
    assert text == f"{mark}=a,b\n{mark}=1+1,-1.5\nx,\n"
    assert next(csv.reader(io.StringIO(text)))[1] == "b"
