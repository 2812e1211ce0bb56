"""What `bhmc fit` says of columns before it works, keeps in run.json, and does with new rows."""

import csv
import json

import numpy as np
import pytest

import bhmc
from bhmc._cli.main import main

SHORT = ("--draws", "2", "--warmup", "2", "--chains", "1", "--levels", "1", "--seed", "0")
N = 12
HEAD = "nr;price;paid;year;day;mass;note\n"
ROWS = "".join(
    f"{i + 1};€{1 + i % 2 * 9},{i};{('yes', 'no')[i % 2]};{2007 + i % 3};{i + 10}.01.2024;"
    f"{[31, 42, 27, 39, 55, 48, 33, 61, 29, 44, 52, 36][i]};{i} words that nobody reads\n"
    for i in range(N)
)
ASKED = ("--decimal", ",", "--as", "day=date", "--as", "year=number")


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A table as a shop might export it, and the run folder of a fit of it."""
    folder = tmp_path_factory.mktemp("shop")
    table = folder / "shop.csv"
    table.write_text(HEAD + ROWS, "utf-8")
    assert main(["fit", str(table), "-o", str(folder / "run"), *SHORT, *ASKED]) == 0
    return table, folder / "run"


def test_columns_are_said_before_work(shop, tmp_path, capsys):
    table, _ = shop
    assert main(["fit", str(table), "-o", str(tmp_path / "run"), *SHORT, *ASKED]) == 0
    said = capsys.readouterr().err
    for line in (
        "Rows are named by 'nr', which is called an id",
        "  id, names the rows: nr",
        "  currency (Gaussian): price [€ taken off]",
        "  truth (Bernoulli): paid [no/yes]",
        "  number (Gaussian): year",
        "  date (Gaussian): day",
        "  whole number (Gaussian): mass [all different]",
        "  text, not fitted: note",
        "  Note: column 'mass' holds whole numbers, all different",
    ):
        assert line in said
    assert said.index("id, names the rows") < said.index("Sampling")


def test_the_plan_is_kept_with_the_run(shop):
    _, run = shop
    data = json.loads((run / "run.json").read_text("utf-8"))["data"]
    plan = {column["name"]: column for column in data["plan"]}
    assert plan["year"]["use"] == "number"
    assert plan["paid"]["family"] == "Bernoulli"
    assert plan["note"]["family"] == ""
    assert data["names"] == ["price", "paid", "year", "day", "mass"]
    model = bhmc.BHMC.load(run / "model.bhmc")
    assert model.feature_names_.tolist() == data["names"]
    assert model.item_names_[0] == "1"


def test_new_rows_are_read_the_same_way(shop, tmp_path, capsys):
    table, run = shop
    new = tmp_path / "new.csv"
    new.write_text(HEAD + ROWS.splitlines()[3] + "\n", "utf-8")
    for file, name in ((table, "all.csv"), (new, "one.csv")):
        assert main(["predict", str(run), str(file), "-o", str(tmp_path / name)]) == 0
    rows = [
        list(csv.DictReader((tmp_path / name).read_text().splitlines()))
        for name in ("all.csv", "one.csv")
    ]
    assert rows[1][0]["name"] == rows[0][3]["name"] == "4"
    assert rows[1][0]["path"] == rows[0][3]["path"]
    np.testing.assert_allclose(float(rows[1][0]["probability"]), float(rows[0][3]["probability"]))
    assert "Left out, because they were not fitted: 'note'" in capsys.readouterr().err


def test_a_run_goes_on_with_its_columns(shop):
    _, run = shop
    assert main(["fit", "--continue", str(run), "--draws", "1"]) == 0
    assert bhmc.BHMC.load(run / "model.bhmc").draws_.n_draws == 3


def test_a_run_of_an_older_bhmc_goes_on(tmp_path, capsys):
    """It had no rules: row numbers were data, and run.json has no plan."""
    table, run = tmp_path / "old.csv", tmp_path / "run"
    table.write_text("nr,w,c\n" + "".join(f"{i},{i % 2}.5,{'ab'[i % 2]}\n" for i in range(N)))
    assert main(["fit", str(table), "-o", str(run), *SHORT, "--no-id"]) == 0
    record = json.loads((run / "run.json").read_text("utf-8"))
    del record["data"]["plan"], record["data"]["reading"]["kinds"]
    del record["data"]["reading"]["thousands"]
    record["data"]["reading"] |= {"text": [], "no_id": False}
    (run / "run.json").write_text(json.dumps(record), "utf-8")
    assert main(["fit", "--continue", str(run), "--draws", "1"]) == 0
    assert bhmc.BHMC.load(run / "model.bhmc").feature_names_.tolist() == ["nr", "w", "c"]
    assert main(["predict", str(run), str(table)]) == 0
    assert len(capsys.readouterr().out.splitlines()[-N:]) == N


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--drop", "day", "--text", "year"),
            "for a column of categories write --as year=category",
        ),
        (("--as", "yaer=number"), "--as 'yaer' is no column of"),
        (("--as", "year=number", "--as", "year=id"), "--as names the column 'year' twice"),
        (("--drop", "day", "--as", "note=number"), "values must be numbers"),
        (("--drop", "day", "--as", "note=truth"), "values must be true or false, yes or no"),
        (("--decimal", "."), "dates such as '10.01.2024' in column 'day'; --as day=date"),
    ],
)
def test_what_is_refused(shop, tmp_path, capsys, options, words):
    table, _ = shop
    assert main(["fit", str(table), "-o", str(tmp_path / "run"), *SHORT, *options]) == 2
    assert words in capsys.readouterr().err


def test_a_kind_that_is_none(capsys):
    with pytest.raises(SystemExit):
        main(["fit", "a.csv", "-o", "run", "--as", "year=years"])
    assert "must be COLUMN=KIND, where KIND is one of number, category" in capsys.readouterr().err
