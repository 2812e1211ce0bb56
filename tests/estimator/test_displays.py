"""What models, trees, draws and diagnostics show of themselves: verbs, text, HTML, pages."""

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError

from bhmc import BHMC, likelihoods
from bhmc._estimator import report
from bhmc._estimator.view import WHY_DENDROGRAM, opened_tree, opens_with
from tests.posterior.draws_factory import make_draws
from tests.tree.tree_factory import large_tree, small_tree

HOSTILE = "<script>alert('x')</script>"
FEW = {"n_levels": 1, "n_warmup": 3, "n_draws": 6, "n_chains": 2, "random_state": 0}


def hostile_table():
    """Two far groups; rows, a column and a category have names that would be HTML."""
    rng = np.random.default_rng(0)
    high = np.repeat([0.0, 9.0], 12)
    names = [f"{HOSTILE}{i}" for i in range(24)]
    columns = {f"a{HOSTILE}": high + rng.normal(size=24), "b&c": high - rng.normal(size=24)}
    return pd.DataFrame(columns, index=names)


@pytest.fixture(scope="module")
def model():
    """Fitted; tests must not change it."""
    settings = {"alpha": 1.0, "init": np.repeat([0, 1], 12), **FEW, "n_warmup": 0}
    found = BHMC(transition="hdp", likelihood="shared_gaussian", **settings).fit(hostile_table())
    assert len(found.tree_.children(0)) > 1
    return found


@pytest.fixture(scope="module")
def full():
    """A fit whose transition "auto" comes to "hdp" on numbers."""
    return BHMC(likelihood="full_gaussian", **FEW).fit(hostile_table())


@pytest.fixture(autouse=True)
def no_windows():
    mpl.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


class Tags(HTMLParser):
    """The tags of a page, and those that are never closed."""

    void = frozenset({"img", "meta", "br", "hr", "polyline", "path", "input"})

    def __init__(self, text):
        super().__init__()
        self.names, self.open, self.links = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(text):
    """HTML that is whole and holds no script."""
    tags = Tags(text)
    assert not tags.open
    assert "script" not in tags.names
    assert HOSTILE not in text
    return text


def test_the_rule_of_what_opens_first(model, full):
    assert (model.view_, full.view_) == ("tree", "dendrogram")
    assert opened_tree(model) is model.tree_
    assert opened_tree(full) is full.dendrogram_
    named = BHMC(transition="hdp", likelihood="full_gaussian")
    named.__dict__.update({k: v for k, v in vars(full).items() if k.endswith("_")})
    assert opens_with(named) == "tree"
    counts = BHMC()
    counts.__dict__.update({k: v for k, v in vars(full).items() if k.endswith("_")})
    assert opens_with(counts) == "dendrogram"
    counts.likelihood_ = likelihoods.Multinomial()
    assert opens_with(counts) == "tree"
    with pytest.raises(NotFittedError):
        _ = BHMC().view_


def test_plot_draws_what_opens_first_or_what_is_asked_for(model, full):
    assert not model.plot().get_xlabel()
    assert "nats" in full.plot().get_xlabel()
    assert not full.plot("tree").get_xlabel()
    assert model.plot("trace", names=["log_joint"]).shape == (1, 2)
    assert "share of draws" in model.plot("coclustering").get_title()
    with pytest.raises(ValueError, match=r"kind='pie' is not known"):
        model.plot("pie")
    with pytest.raises(NotFittedError):
        BHMC().plot()


def test_trees_and_draws_draw_themselves(full):
    assert not full.tree_.plot().get_xlabel()
    assert "nats" in full.dendrogram_.plot().get_xlabel()
    assert full.tree_.plot("icicle", max_nodes=3).get_legend() is not None
    assert full.draws_.plot(names=["log_joint"]).shape == (1, 2)
    assert "share" in full.draws_.plot("coclustering", level=1).get_title()
    for thing in (full.tree_, full.draws_):
        with pytest.raises(ValueError, match="kind='pie' is not known"):
            thing.plot("pie")


def test_the_summary_says_what_a_person_asks_first(model, full):
    text = str(model.summary())
    assert text == repr(model.summary())
    assert "24 rows and 2 columns" in text
    assert "SharedGaussian" in text
    assert 'Transition: "hdp"' in text
    branch = model.summary().branches[0]
    assert branch.node in model.tree_.children(0)
    assert branch.size == model.tree_.sizes[branch.node]
    assert f"[{branch.node}] {branch.size} rows" in text
    assert f"a{HOSTILE}" in branch.apart or "b&c" in branch.apart
    assert "draws" in text
    assert "outlier score" in text
    assert WHY_DENDROGRAM not in text
    assert "comes first" in str(full.summary())
    checked(model.summary()._repr_html_())


def test_the_summary_names_the_oddest_rows(model):
    odd = BHMC()
    odd.__dict__.update(vars(model))
    odd.outlier_scores_ = np.linspace(0.0, 1.0, 24)
    found = odd.summary().odd
    assert [one.row for one in found] == [23, 22]  # 0.957 and more
    odd.outlier_scores_ = np.full(24, np.nan)
    assert "No row stands out" in str(odd.summary())


def test_displays_are_escaped_and_small(model, full):
    for thing in (model.tree_, full.dendrogram_, model.draws_, model.diagnostics_):
        assert len(checked(thing._repr_html_())) < 20_000
    tree = model.tree_._repr_html_()
    assert "&lt;script&gt;" in tree
    named = model.tree_.rename({1: HOSTILE})
    assert "alert" in checked(named._repr_html_())


def test_a_large_tree_has_a_small_display():
    tree = replace(large_tree(n=5_000, fans=(20, 8, 6)), names=np.array(["n" * 500] * 5_000))
    html = checked(tree._repr_html_())
    assert len(html) < 30_000
    assert html.count("<tr>") <= 41
    shown = int(re.search(r"([\d,]+) smaller nodes not shown", html).group(1).replace(",", ""))
    assert shown + 40 == tree.n_nodes


def test_the_display_of_a_tree_has_its_nodes():
    tree = small_tree(1, n=12, n_levels=2)
    html = tree._repr_html_()
    for node in range(1, tree.n_nodes):
        assert re.search(rf"[\[ ]{node}[\] ]", html), node
    assert "item 3" in html


def test_draws_of_one_draw_have_a_display():
    draws = make_draws(n_draws=1)
    assert "<svg" not in checked(draws._repr_html_())


def test_the_model_s_display_keeps_the_diagram_of_scikit_learn(model):
    shown = model._repr_mimebundle_()
    assert shown["text/plain"].startswith("BHMC(")
    html = shown["text/html"]
    assert html == model._repr_html_() or "sk-top-container" in model._repr_html_()
    assert "sk-top-container" in html
    assert "24 rows and 2 columns" in html
    assert HOSTILE not in html
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")
    assert "sk-top-container" in BHMC()._repr_html_()
    assert BHMC()._get_doc_link() == ""  # there is no public site yet


def test_the_report_is_one_page_that_needs_nothing_else(model, full, tmp_path):
    path = model.report(tmp_path / "page.html", title=HOSTILE)
    page = checked(path.read_text("utf-8"))
    assert page.count("data:image/png;base64,") == 3
    links = Tags(page).links
    assert all(link.startswith("data:") for link in links)
    assert len(links) == 3
    for words in (
        "Top branches",
        "Do the chains agree?",
        "The oddest rows",
        "random_state",
        "numpy",
    ):
        assert words in page
    assert WHY_DENDROGRAM not in page
    first = full.report(tmp_path / "full.html").read_text("utf-8")
    assert "comes first" in first
    assert first.index("The dendrogram of components:") < first.index("The tree. A node")
    assert not list(tmp_path.glob(".*"))  # nothing is left beside the pages
    from matplotlib import pyplot

    assert pyplot.get_fignums() == []


def test_a_report_that_fails_leaves_the_old_page(model, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old", "utf-8")
    monkeypatch.setattr(report, "versions", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.report(path)
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text("utf-8") == "old"


ABSENT = """
import sys
sys.modules["matplotlib"] = None
import numpy as np
from bhmc import BHMC
from tests.posterior.draws_factory import make_draws
from tests.tree.tree_factory import small_tree
tree, draws = small_tree(), make_draws()
assert tree._repr_html_() and draws._repr_html_()
for verb, name in ((tree.plot, "plot_tree"), (draws.plot, "plot_trace")):
    try:
        verb()
    except ImportError as error:
        assert str(error) == f"{name} needs matplotlib: install it with `pip install bhmc[plot]`."
    else:
        raise AssertionError(name)
"""


def test_displays_need_no_matplotlib():
    done = subprocess.run([sys.executable, "-c", ABSENT], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
