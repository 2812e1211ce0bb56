"""The documents tell the truth: their examples run, their names exist, their map is complete."""

import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot
from scipy import integrate, stats

import bhmc
from bhmc.model.diffused.setting import MOVES
from bhmc.model.hdp import published
from tests.docs.shared_fits import folder_of_run, share_fits
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.geweke import Setting
from tests.exact.invariance import paired_z
from tests.mutants.mutants import build

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "gallery").glob("*.md"))
MAP = (ROOT / "docs" / "model-and-code.md").read_text(encoding="utf-8")


# Pages with examples, and the least number of them: fewer were found, if a block were malformed.
EXAMPLES_OF_PAGES = {
    "README.md": 15,
    "docs/choosing-settings.md": 5,
    "docs/datasets.md": 12,
    "docs/explorer.md": 5,
    "docs/families.md": 8,
    "docs/faq.md": 6,
    "docs/file-format.md": 15,
    "docs/five-minute-start.md": 20,
    "docs/gallery/anndata.md": 20,
    "docs/gallery/bertopic.md": 12,
    "docs/gallery/fashion.md": 8,
    "docs/gallery/mixed-table.md": 15,
    "docs/gallery/out-of-core.md": 20,
    "docs/gallery/word-counts.md": 15,
    "docs/gallery/wordnet.md": 5,
    "docs/gallery/zoo.md": 10,
    "docs/metrics.md": 10,
    "docs/model-in-pictures.md": 5,
    "docs/reading-tables.md": 5,
    "docs/prediction.md": 10,
    "docs/reading-the-tree.md": 20,
    "docs/scale.md": 7,
    "docs/text.md": 10,
    "docs/transitions.md": 8,
}
# Pages of the gallery: fits as long as a reader's only in `make exact` and `make pictures`. Zoo's
# fits are those of other pages.
BRIEF = {page for page in EXAMPLES_OF_PAGES if "gallery" in page} - {"docs/gallery/zoo.md"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("page", EXAMPLES_OF_PAGES)
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.exact_long)])
def test_examples_of_pages_run(page, whole, tmp_path, tmp_path_factory, monkeypatch):
    """In an empty folder, for they write files. Fits of a first look may not have converged.

    `make exact` runs every fit of a page as long as a reader's.
    """
    brief = page in BRIEF and not whole
    share_fits(monkeypatch, folder_of_run(tmp_path_factory), whole=whole, brief=brief)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    result = doctest.testfile(
        str(ROOT / page), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8"
    )
    pyplot.close("all")  # many open figures are a warning, in whichever test comes next
    assert result.attempted > EXAMPLES_OF_PAGES[page]
    assert result.failed == 0


def test_every_page_with_examples_is_run():
    """A new page with a prompt in it needs a line above."""
    found = {str(page.relative_to(ROOT)) for page in PAGES if ">>>" in page.read_text("utf-8")}
    assert found == set(EXAMPLES_OF_PAGES)


EXAMPLES = ["bhmc._estimator.bhmc", "bhmc.model.describe_prior", "bhmc._search.run"]
EXAMPLES += ["bhmc.likelihoods.product"]
EXAMPLES += [f"bhmc.datasets._{name}" for name in ("zoo", "images", "texts", "make")]
EXAMPLES += [
    "bhmc.metrics._levels",
    "bhmc.preprocessing._directions",
    "bhmc.preprocessing._text_features",
]
EXAMPLES += ["bhmc.baselines.perch.estimator", "bhmc.baselines.pydt.estimator"]
EXAMPLES += ["bhmc.baselines.random_tree", "bhmc.baselines.ward"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_docstring_examples_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_sections_lead_somewhere(page):
    """`page.md#section` is a heading of that page, as GitHub names it."""
    text = page.read_text(encoding="utf-8")
    for target, section in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", text):
        if not target.startswith("https://"):
            other = (page.parent / target if target else page).read_text(encoding="utf-8")
            assert section in headings(other), f"{target}#{section}"


def headings(text):
    """The anchors of a page: small letters, spaces as hyphens, no punctuation."""
    found = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in found}


def test_the_index_names_every_page():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages <= set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    gallery = (ROOT / "docs" / "gallery" / "index.md").read_text(encoding="utf-8")
    shown = {page.name for page in (ROOT / "docs" / "gallery").glob("*.md")} - {"index.md"}
    assert shown <= set(re.findall(r"\]\(([\w-]+\.md)\)", gallery))


def test_every_picture_is_shown_and_said_in_words():
    """No picture without a page, none without a text for those who cannot see it."""
    shown = set()
    for page in PAGES:
        for words, target in re.findall(r"!\[(.*?)\]\(([^)]+)\)", page.read_text("utf-8")):
            assert len(words) > 20, target
            shown.add((page.parent / target).resolve())
    assert set((ROOT / "docs" / "pictures").glob("*.png")) <= shown


def test_the_command_line_page_names_every_move():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert f"`{','.join(MOVES)}` (where locations diffuse)" in page


def test_the_map_names_every_room():
    package = Path(bhmc.__file__).parent
    rooms = {p.stem for p in package.glob("*.py")} | {
        p.parent.name for p in package.glob("*/__init__.py")
    }
    named = set(re.findall(r"`(\w+)`", MAP.split("## Rooms")[1].split("##")[0]))
    assert rooms - {"__init__"} <= named


def test_the_map_names_real_functions_and_tests():
    kernels = build(())  # the functions of all kernel files
    for name in re.findall(r"`kernels\.(\w+)`", MAP):
        assert hasattr(kernels, name), name
    steps = MAP.split("The conditionals, in the order of a sweep")[1]
    for name in re.findall(r"`(\w+)`", re.sub(r"`Family\.\w+`", "", steps)):
        assert hasattr(kernels, name) or hasattr(published, name), name
    for test in re.findall(r"`(tests/[\w/]+\.py)`", "".join(p.read_text("utf-8") for p in PAGES)):
        assert (ROOT / test).exists(), test


def contributed_likelihood():
    """The skeleton in CONTRIBUTING."""
    code = re.findall(r"```python\n(.*?)```", PAGES[1].read_text(encoding="utf-8"), re.DOTALL)[0]
    names: dict = {}
    exec(code, names)
    return names["PlainPoisson"](shape=2.0, rate=1.5)


@pytest.mark.parametrize("n_draws", [800, pytest.param(5_000, marks=pytest.mark.exact_long)])
def test_the_contributed_likelihood_is_exact(n_draws):
    """The skeleton in CONTRIBUTING is a whole family, and leaves the joint law alone."""
    setting = Setting(n=5, n_levels=2)
    setting.likelihood = contributed_likelihood()
    z = paired_z(setting, "gibbs", "sweep", n_draws, rng_for(71))
    assert np.abs(z).max() < Z_LIMIT


def test_the_contributed_likelihood_has_true_densities():
    """f is SciPy's, and f* the integral of f over H."""
    X = np.array([[0.0], [1.0], [7.0]])
    family = contributed_likelihood().prepare(X)
    assert isinstance(family, bhmc.likelihoods.Family)
    theta = np.array([[0.2], [3.0]])
    np.testing.assert_allclose(family.log_table(theta), stats.poisson.logpmf(X, theta.T))

    def integrand(theta):
        theta = np.array([[theta]])
        return np.exp(family.log_table(theta)[:, 0] + family.log_prior(theta))

    value, _ = integrate.quad_vec(integrand, 1e-12, 60)
    np.testing.assert_allclose(family.log_marginal(), np.log(value), rtol=1e-7)
