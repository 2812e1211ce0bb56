"""Must show 1 of the front desk: awkward tables, what is read and what is said, as one table."""

from pathlib import Path

import pytest

from tests.io.awkward_tables import TABLES, expectations, outcome, page_row, write

PAGE = Path(__file__).parents[2] / "docs" / "reading-tables.md"


@pytest.mark.parametrize("table", TABLES, ids=[one.title for one in TABLES])
def test_what_is_read_and_said(table, tmp_path):
    found = outcome(write(tmp_path, table), table.options)
    assert found == expectations()[table.title]
    if "refused" in found:
        assert found["refused"].endswith(".")


def test_the_page_shows_the_table():
    page, expected = PAGE.read_text("utf-8"), expectations()
    assert len(TABLES) == len(expected) >= 40
    for table in TABLES:
        assert page_row(table, expected[table.title]) in page, table.title
