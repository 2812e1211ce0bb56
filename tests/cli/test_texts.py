"""Columns of free text from a shell: fit, show, predict and continue."""

import sys

import pytest

from bhmc._cli import main
from bhmc.preprocessing import TextFeatures
from tests.cli.tools import QUICK, record_of, refused, rows_of

# A word that one text has is left out.
BRANDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india")
SHOP = (*("--id", "item", "--text", "title,description", "--text-model", "tfidf"), *QUICK)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Nine shoes and nine watches, with prices."""
    file = tmp_path_factory.mktemp("shop") / "shop.csv"
    rows = []
    for i, brand in enumerate(BRANDS):
        rows.append(f"s{i},{brand} shoe,a running shoe with laces,{10 + i % 4},{i}")
        rows.append(f"w{i},{brand} watch,a steel watch with a strap,{90 + i % 4},{i}")
    file.write_text("\n".join(["item,title,description,price,zip", *rows]) + "\n")
    return file


@pytest.fixture(scope="module")
def run(shop, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    assert main(["fit", str(shop), "-o", str(folder), "--drop", "zip", *SHOP]) == 0
    return folder


def test_words_are_in_the_nodes(run, capsys):
    assert main(["show", str(run)]) == 0
    assert "laces +" in capsys.readouterr().out
    assert "laces +" in (run / "tree.txt").read_text()
    assert main(["show", str(run), "--features", "0"]) == 0
    assert "laces +" not in capsys.readouterr().out
    assert main(["show", str(run), "--describe"]) == 0
    described = capsys.readouterr().out
    assert "strap" in described
    assert "price" in described
    assert "text 1" not in described
    assert main(["show", str(run), "--json"]) == 0
    assert "laces +" in capsys.readouterr().out


def test_a_fit_says_how_texts_became_numbers(shop, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("bhmc.preprocessing._text_features.found_encoder", lambda: None)
    asked = ["--text", "title", "--drop", "description,price,zip,item", *QUICK]
    assert main(["fit", str(shop), "-o", str(tmp_path / "run"), *asked]) == 0
    said = capsys.readouterr().err
    assert "Texts became numbers by TF-IDF of 11 words" in said
    assert "--text-model FOLDER" in said
    assert record_of(tmp_path / "run")["data"]["texts"]["columns"] == ["title"]


def test_new_texts_find_their_place(run, shop, tmp_path, capsys):
    """By the saved words: the run folder alone is needed, and no code is in it."""
    new = tmp_path / "new.csv"
    new.write_text("title,description,price,item\ngreen shoe,a running shoe with laces,11,n1\n"
                   "brown watch,a steel watch with a strap,91,n2\n")  # fmt: skip
    assert main(["predict", str(run), str(new), "-o", str(tmp_path / "places.csv")]) == 0
    places = rows_of(tmp_path / "places.csv")
    fitted = {row["name"]: row["component"] for row in rows_of(run / "assignments.csv")}
    assert [row["component"] for row in places] == [fitted["s0"], fitted["w0"]]
    assert [row["name"] for row in places] == ["n1", "n2"]
    assert isinstance(TextFeatures.load(run / "text.bhmc"), TextFeatures)
    new.write_text("title,price\ngreen shoe,11\n")
    assert "has no column 'description' of text" in refused(capsys, "predict", run, new)


def test_a_run_with_texts_goes_on(run, shop, capsys):
    assert main(["fit", "--continue", str(run), "--draws", "2"]) == 0
    assert record_of(run)["result"]["draws"] == 8
    assert "laces +" in capsys.readouterr().out
    line = refused(capsys, "fit", "--continue", run, "--draws", "2", "--text", "title")
    assert "--text cannot be changed" in line


def test_words_of_boilerplate_are_nowhere(run, shop, tmp_path, capsys):
    """Neither among the words that became numbers nor in the nodes, after --continue, too."""
    folder, new = tmp_path / "run", tmp_path / "new.csv"
    dull = ["--boilerplate", "a strap, a strap!", "--boilerplate", "Running Laces"]
    assert main(["fit", str(shop), "-o", str(folder), "--drop", "zip", *SHOP, *dull]) == 0
    left_out = {"strap", "running", "laces"}
    assert set(TextFeatures.load(run / "text.bhmc").words_) >= left_out
    assert not left_out & set(TextFeatures.load(folder / "text.bhmc").words_)
    assert record_of(folder)["data"]["texts"]["boilerplate"] == dull[1::2]
    assert main(["fit", "--continue", str(folder), "--draws", "2", "-q"]) == 0
    capsys.readouterr()
    assert main(["show", str(folder), "--describe"]) == 0
    described = capsys.readouterr().out
    assert "steel" in described
    assert not [word for word in left_out if word in described]
    new.write_text("item,title,description,price\nn1,shoe,,11\nn2,shoe,running laces,11\n")
    assert main(["predict", str(folder), str(new), "-o", str(tmp_path / "places.csv")]) == 0
    one, other = rows_of(tmp_path / "places.csv")
    assert {**one, "name": ""} == {**other, "name": ""}
    line = refused(capsys, "fit", "--continue", folder, "--draws", "2", *dull)
    assert "--boilerplate cannot be changed" in line


def test_the_column_that_names_rows_may_be_text_too(shop, tmp_path):
    asked = ["--id", "title", "--text", "title", "--drop", "item,description,price,zip"]
    assert main(["fit", str(shop), "-o", str(tmp_path / "run"), *asked, *QUICK, "-q"]) == 0
    assert rows_of(tmp_path / "run" / "assignments.csv")[0]["name"] == "alpha shoe"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--text", "zip"), "for a column of categories write --as zip=category"),
        (("--text", "title,title"), "--text names the column 'title' twice"),
        (("--text", "titel"), "Did you mean 'title'"),
        (("--text-model", "tfidf"), "--text-model needs --text"),
        (("--boilerplate", "buy online"), "--boilerplate needs --text"),
        (("--text", "title", "--text-model", "nowhere"), "nowhere"),
    ],
)
def test_wrong_uses_are_one_sentence(shop, tmp_path, capsys, asked, said, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    assert said in refused(capsys, "fit", shop, "-o", tmp_path / "run", "--id", "item", *asked)


def test_few_different_texts_may_be_categories(shop, tmp_path, capsys):
    file = tmp_path / "towns.csv"
    file.write_text("town,x\n" + "New York,1\nLos Angeles,2\n" * 15)
    main(["fit", str(file), "-o", str(tmp_path / "run"), "--text", "town", *QUICK])
    assert "if they are categories, write --as town=category" in capsys.readouterr().err


def test_the_old_name_in_compare_is_one_sentence(shop, tmp_path, capsys):
    asked = ("compare", shop, "--labels", "zip", "--words", "title", "-o", tmp_path / "out")
    assert "--words is called --text now: write --text title." in refused(capsys, *asked)
