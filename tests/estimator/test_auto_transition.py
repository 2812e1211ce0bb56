"""What `transition="auto"`, the default, stands for."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bhmc import BHMC, likelihoods
from bhmc._estimator.auto_transition import transition_for
from bhmc.likelihoods import Gaussian, Product
from bhmc.likelihoods._registry import FAMILIES
from bhmc.model.registry import transition_named
from bhmc.priors import Uniform

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::bhmc._estimator.empty_rows.EmptyRowsWarning",  # some of these rows have no word
)

DATA = Path(__file__).parents[1] / "data"
QUICK = {"n_levels": 2, "n_warmup": 3, "n_draws": 3, "n_chains": 1, "random_state": 0}
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(30, 3))
HOLES = np.where(RNG.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)
BITS = (NUMBERS > 0).astype(float)
WORDS = RNG.poisson(0.3, size=(30, 12)).astype(float)
TEXT = pd.DataFrame(np.array(["a", "b", "c"])[np.minimum(WORDS, 2).astype(int)]).add_prefix("c")
MIXED = pd.DataFrame({"x": NUMBERS[:, 0], "t": TEXT["c0"], "b": BITS[:, 0].astype(bool)})


def named(X=None, **settings):
    return transition_for(BHMC(**settings), X).name


# ---- Before data ----


def test_the_default_is_auto_and_auto_is_diffused():
    assert BHMC().transition == "auto"
    assert named() == "diffused"


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_with_places_diffuses(name):
    expected = "diffused" if likelihoods.kind_of(name).has_places else "hdp"
    assert named(likelihood=name) == named(NUMBERS, likelihood=name) == expected


def test_families_without_places():
    """Those that the docstring names; a Product is as its parts are."""
    without = {name for name in FAMILIES if named(likelihood=name) == "hdp"}
    assert without == {"gaussian", "free_gaussian", "full_gaussian", "poisson", "multinomial"}
    assert named(likelihood=Gaussian(0.5)) == "diffused"
    assert named(likelihood=Gaussian(Uniform(0, 1))) == "hdp"
    both = [("shared_gaussian", [0]), ("bernoulli", [1])]
    assert named(likelihood=Product(both)) == "diffused"
    assert named(likelihood=Product([*both, ("poisson", [2])])) == "hdp"


@pytest.mark.parametrize(
    "settings",
    [
        {"fixed_components": 3},
        {"hyper": "paper"},
        {"sampler": "mh"},
        {"sampler": "paper"},
        {"moves": ("dishes",)},
        {"moves": ["relocate", "split"]},
        {"moves": ("split",)},  # which both have
    ],
)
def test_settings_of_hdp(settings):
    assert named(**settings) == named(NUMBERS, **settings) == "hdp"


@pytest.mark.parametrize("moves", ["auto", (), [], ("atom",), ["split", "steps"]])
def test_moves_of_diffused(moves):
    assert named(moves=moves) == "diffused"


def test_moves_that_no_transition_has_are_refused():
    for moves in (("atom", "dishes"), ("what",), "what", 3):
        with pytest.raises((TypeError, ValueError), match=r"^moves must be"):
            BHMC(moves=moves, **QUICK).fit(NUMBERS)


def test_a_named_transition_is_itself():
    for name in ("hdp", "diffused", "gaussian"):
        assert named(transition=name) == name
    own = transition_named("diffused")
    assert transition_for(BHMC(transition=own)) is own


# ---- With data ----


@pytest.mark.parametrize(
    ("X", "transition", "likelihood"),
    [
        (NUMBERS, "diffused", "ShapedGaussian"),
        (NUMBERS[:, :1], "diffused", "SharedGaussian"),
        (HOLES, "diffused", "ShapedGaussian"),
        (BITS, "diffused", "Bernoulli"),
        (TEXT, "diffused", "Categorical"),
        (MIXED, "diffused", "Product"),
        (MIXED.assign(t="a"), "hdp", "Product"),  # a logit needs two categories
        (WORDS, "hdp", "Multinomial"),
        (sparse.csr_array(WORDS), "hdp", "Multinomial"),
        (sparse.csr_array(BITS), "hdp", "Multinomial"),
    ],
    ids=[
        "numbers",
        "a column",
        "holes",
        "bits",
        "text",
        "mixed",
        "one text",
        "words",
        "sparse",
        "sparse bits",
    ],
)
def test_what_a_fit_takes(X, transition, likelihood, tmp_path):
    """The text has codes that look like counts of words, and is none."""
    model = BHMC(**QUICK).fit(X)
    assert (model.transition, model.transition_.name) == ("auto", transition)
    assert type(model.likelihood_).__name__ == likelihood
    model.save(tmp_path / "model")
    again = BHMC.load(tmp_path / "model")
    assert (again.transition, again.transition_) == ("auto", model.transition_)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))


@pytest.mark.parametrize(("X", "name"), [(NUMBERS, "diffused"), (WORDS, "hdp")])
def test_auto_is_what_it_stands_for(X, name):
    """Bit for bit."""
    one, other = (BHMC(transition=t, **QUICK).fit(X) for t in ("auto", name))
    assert one.transition_ == other.transition_
    np.testing.assert_array_equal(one.draws_.log_joint, other.draws_.log_joint)
    np.testing.assert_array_equal(one.paths_, other.paths_)


def test_a_second_fit_chooses_anew():
    model = BHMC(**QUICK)
    for X, name in ((NUMBERS, "diffused"), (WORDS, "hdp"), (BITS, "diffused")):
        assert model.fit(X).transition_.name == name


def test_a_model_that_is_not_fitted_has_none():
    with pytest.raises(AttributeError, match="not fitted yet"):
        _ = BHMC().transition_


# ---- Files of an older bhmc ----


@pytest.mark.parametrize("version", [1, 2, 3])
def test_models_saved_before_there_was_a_transition_are_of_hdp(version):
    model = BHMC.load(DATA / f"model-format-{version}.bhmc")
    assert model.transition_.name == "hdp"


@pytest.mark.parametrize(
    ("name", "parameter"), [("hdp", "hdp"), ("hdp", "auto"), ("diffused", "diffused")]
)
def test_models_saved_without_transition__predict_as_before(name, parameter, tmp_path):
    """Before "auto" files did not say what was fitted: the parameter did, whose default was "hdp".

    A file that has no parameter has that of today when it is read.
    """
    model = BHMC(transition=name, likelihood="shared_gaussian", **QUICK).fit(NUMBERS)
    expected = model.predict_proba(NUMBERS), model.score_samples(NUMBERS)
    del model.transition_
    model.set_params(transition=parameter)
    model.save(tmp_path / "old")
    old = BHMC.load(tmp_path / "old")
    assert "transition_" not in vars(old)
    np.testing.assert_array_equal(old.predict_proba(NUMBERS), expected[0])
    np.testing.assert_array_equal(old.score_samples(NUMBERS), expected[1])
