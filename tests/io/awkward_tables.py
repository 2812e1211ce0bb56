"""Awkward tables: what is in each file, and what is read and said. One table for tests and page.

`python -m tests.io.awkward_tables` prints the rows of docs/reading-tables.md; what is
expected stands in awkward_tables.json, and was read by a person.
"""

import json
import shlex
import zipfile
from datetime import date
from pathlib import Path
from typing import NamedTuple

from bhmc._cli.parser import build_parser
from bhmc._cli.tables import reading_of
from bhmc._io.tables.read import Table, read_table
from bhmc._validation.column_plan import in_options
from bhmc._validation.errors import RefusedError

EXPECTED = Path(__file__).with_name("awkward_tables.json")


class Awkward(NamedTuple):
    """A file, and the options it is read with."""

    title: str
    content: str | bytes | dict
    """Text, bytes, or columns of a Parquet file."""
    options: str = ""
    name: str = "data.csv"


def _rows(head: str, *rows: str) -> str:
    return "\n".join((head, *rows)) + "\n"


TWELVE = range(12)
MASS = (31, 42, 27, 39, 55, 48, 33, 61, 29, 44, 52, 36)

TABLES = (
    Awkward("years", _rows("year,w", *(f"{2007 + i % 3},{i}.5" for i in TWELVE))),
    Awkward(
        "years, as numbers",
        _rows("year,w", *(f"{2007 + i % 3},{i}.5" for i in TWELVE)),
        "--as year=number",
    ),
    Awkward("many years", _rows("year,w", *(f"{1990 + 2 * (i * 5 % 12)},{i}.5" for i in TWELVE))),
    Awkward("years by another name", _rows("w,season", *(f"{i}.5,{2007 + i % 3}" for i in TWELVE))),
    Awkward("row numbers", _rows("nr,w", *(f"{i + 1},{i}.5" for i in TWELVE))),
    Awkward(
        "customer numbers that grow", _rows("customer,w", *(f"{10 + i * i},{i}.5" for i in TWELVE))
    ),
    Awkward("an id column later on", _rows("w,user_id", "1.5,77", "2.5,13", "3.5,42")),
    Awkward("an index as pandas writes it", _rows(",w,v", "0,1.5,2.5", "1,2.5,3.5")),
    Awkward(
        "body mass, all different", _rows("w,mass", *(f"{i}.5,{m}" for i, m in enumerate(MASS)))
    ),
    Awkward("names of rows", _rows("animal,legs", "Ant,6", "Bee,6", "Cow,4")),
    Awkward("names of rows, as data", _rows("animal,legs", "Ant,6", "Bee,6", "Cow,4"), "--no-id"),
    Awkward("ids beyond 2^53", _rows("id,w", "9007199254740993,1.5", "9007199254740992,2.5")),
    Awkward(
        "whole numbers beyond 2^53",
        _rows("w,n", "1.5,9007199254740993", "2.5,9007199254740993", "3.5,1"),
    ),
    Awkward("a number beyond doubles", _rows("w,v", "1.5,1e999", "2.5,3")),
    Awkward("postcodes", _rows("w,zip", "1.5,01069", "2.5,10115", "3.5,01069")),
    Awkward("stars from 1 to 5", _rows("w,stars", *(f"{i}.5,{1 + i % 5}" for i in TWELVE))),
    Awkward(
        "stars, as categories",
        _rows("w,stars", *(f"{i}.5,{1 + i % 5}" for i in TWELVE)),
        "--as stars=category",
    ),
    Awkward("dates", _rows("day,w", "2024-01-31,1.5", "2024-02-01,2.5")),
    Awkward("dates, as days", _rows("day,w", "31.01.2024,1.5", "01.02.2024,2.5"), "--as day=date"),
    Awkward("dates, left out", _rows("day,w", "1/31/2024,1.5", "2/1/2024,2.5"), "--drop day"),
    Awkward("day or month", _rows("day,w", "01/02/2024,1.5", "03/02/2024,2.5"), "--as day=date"),
    Awkward("euros", _rows("price,w", "€12.99,1.5", "€5,2.5", ",3.5")),
    Awkward("two currencies", _rows("price,w", "€12.99,1.5", "$5.00,2.5")),
    Awkward("percents", _rows("share,w", "10%,1.5", "12.5%,2.5")),
    Awkward("a unit", _rows("size,w", "12 kg,1.5", "13.5 kg,2.5")),
    Awkward("two units", _rows("size,w", "12 kg,1.5", "500 g,2.5")),
    Awkward("a unit in one cell", _rows("size,w", "12,1.5", "13,2.5", "14kg,3.5")),
    Awkward("1,200, which may be 1200 or 1.2", _rows("n,w", '"1,200",1.5', '"3,400",2.5')),
    Awkward("thousands", _rows("n,w", '"1,200",1.5', "800,2.5"), "--thousands ,"),
    Awkward("1,200 with a decimal comma", _rows("n;w", "1,200;1,5", "3,400;2,5"), "--decimal ,"),
    Awkward("decimal commas, unsaid", _rows("n;w", "1,5;1", "2,5;3")),
    Awkward("1.234,5", _rows("n;w", "1.234,5;1,5", "800;2,5"), "--decimal , --thousands ."),
    Awkward("points under a decimal comma", _rows("n;w", "1.200;1,5", "800;2,5"), "--decimal ,"),
    Awkward(
        "hashes, one of which begins as 0b10",
        _rows("key,w", *(f"{(i * 40503) % 65536:04x}c{i},{i}.5" for i in TWELVE), "0b10,13.5"),
    ),
    Awkward("0x10", _rows("n,w", "0x10,1.5", "0x11,2.5")),
    Awkward("1_000", _rows("n,w", "1_000,1.5", "2,2.5", "3,3.5")),
    Awkward(
        "CSV as Excel writes it",
        "\ufeffsep=;\r\nname;wert;ja;;\r\nÄpfel;1,5;WAHR;;\r\nBirnen;2,5;FALSCH;;\r\n",
        "--decimal ,",
    ),
    Awkward("a byte order mark", "\ufeffa,b\n1.5,x\n2.5,y\n3.5,x\n"),
    Awkward("UTF-16", "a\tb\n1.5\tx\n2.5\ty\n3.5\tx\n".encode("utf-16"), name="data.txt"),
    Awkward("Latin-1", "a,b\n1.5,Ä\n2.5,y\n".encode("latin-1")),
    Awkward("quotes", 'a,b\n1.5,"x, ""y"""\n2.5,"z\nz"\n3.5,"z\nz"\n'),
    Awkward("a quote that never ends", 'a,b\n1.5,"x\n2.5,y\n'),
    Awkward("a ragged line", "a,b\n1.5,2\n1.5,2,3\n"),
    Awkward("an empty column", "a,b,c\n1.5,,x\n2.5,NA,y\n3.5,?,x\n"),
    Awkward("a constant column", "a,b\n1.5,7\n2.5,7\n"),
    Awkward("one name twice", "a,a\n1,2\n3,4\n"),
    Awkward("a column without a name", "a,,b\n1,2,3\n3,4,5\n"),
    Awkward("yes and no", "a,b\n1.5,yes\n2.5,No\n3.5,\n"),
    Awkward("text among numbers", "a,b\n1.5,1\n2.5,2\n3.5,oops\n"),
    Awkward(
        "remarks",
        _rows("w,remark", *(f"{i}.5,this is remark number {i}" for i in TWELVE)),
    ),
    Awkward("no header", "1.5,2.5\n3.5,4.5\n"),
    Awkward(
        "Parquet with a date",
        {"w": [1.5, 2.5], "day": [date(2024, 1, 31), None]},
        "--as day=date",
        "data.parquet",
    ),
    Awkward(
        "Parquet with whole numbers beyond 2^53",
        {"w": [1.5, 2.5, 3.5], "n": [2**53 + 1, 2**53 + 1, None]},
        name="data.parquet",
    ),
    Awkward(
        "Parquet with years and truths",
        {"year": [2007, 2008] * 3, "fly": [True, False, None] * 2},
        name="data.parquet",
    ),
    Awkward("a spreadsheet", {"w": [1.5, 2.5], "kind": ["x", "y"]}, name="data.xlsx"),
)


def write(folder: Path, one: Awkward) -> Path:
    """The file of an awkward table."""
    path = folder / one.name
    if isinstance(one.content, bytes):
        path.write_bytes(one.content)
    elif isinstance(one.content, str):
        path.write_bytes(one.content.encode())
    elif path.suffix == ".parquet":
        import polars

        polars.DataFrame(one.content).write_parquet(path)
    else:
        _write_sheet(path, one.content)
    return path


_KIND = "http://schemas.openxmlformats.org/"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_KIND}package/2006/content-types"><Default '
    'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    "</Types>",
    "_rels/.rels": f'<Relationships xmlns="{_KIND}package/2006/relationships"><Relationship '
    f'Id="a" Type="{_KIND}officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_KIND}spreadsheetml/2006/main" '
    f'xmlns:r="{_KIND}officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" '
    'r:id="b"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_KIND}package/2006/relationships">'
    f'<Relationship Id="b" Type="{_KIND}officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}


def _write_sheet(path: Path, columns: dict) -> None:
    """The smallest file that is a spreadsheet."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    lines = [
        f'<row r="{i}">'
        + "".join(_cell(f"{'ABC'[j]}{i}", cell) for j, cell in enumerate(row))
        + "</row>"
        for i, row in enumerate(rows, 1)
    ]
    sheet = f'<worksheet xmlns="{_KIND}spreadsheetml/2006/main"><sheetData>{"".join(lines)}'
    with zipfile.ZipFile(path, "w") as file:
        for name, text in _PARTS.items():
            file.writestr(name, text)
        file.writestr("xl/worksheets/sheet1.xml", f"{sheet}</sheetData></worksheet>")


def _cell(place: str, value) -> str:
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def outcome(path: Path, options: str) -> dict:
    """What is read of a file, the first three rows, and what is said; or the refusal."""
    asked = build_parser().parse_args(["fit", str(path), "-o", "run", *shlex.split(options)])
    try:
        table = read_table(str(path), reading_of(asked))
    except RefusedError as error:
        return {"refused": str(error).replace(str(path), "FILE")}
    return {"read": _first_rows(table), "plan": table.plan.lines(), "said": _said(table)}


def _first_rows(table: Table) -> dict[str, list]:
    assert table.columns is not None
    found = {"rows": table.items[:3]} if table.items else {}
    for name, column in zip(table.names, table.columns, strict=True):
        cells = column.tolist()[:3]
        found[name] = [None if cell is None or cell != cell else cell for cell in cells]
    return found


def _said(table: Table) -> list[str]:
    own = [one for one in table.plan.columns if one.name != table.item_column]
    sentences = [one.sentence(in_options) for one in own]
    return [*table.notes, *(sentence for sentence in sentences if sentence)]


def page_row(one: Awkward, expected: dict) -> str:
    """A row of the table in docs/reading-tables.md."""
    if "refused" in expected:
        told = f"**refused**: {expected['refused']}"
    else:
        told = "<br>".join([*expected["plan"], *(f"*{said}*" for said in expected["said"])])
    options = f"`{one.options}`" if one.options else ""
    cells = (one.title, options, told)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def expectations() -> dict[str, dict]:
    """What is expected of each table, by its title."""
    return json.loads(EXPECTED.read_text("utf-8"))


if __name__ == "__main__":
    for table in TABLES:
        print(page_row(table, expectations()[table.title]))
