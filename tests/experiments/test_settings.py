"""Settings of the experiments: the published ones, and all of them can be run."""

import numpy as np
import pytest

import bhmc
from bhmc import likelihoods, priors
from bhmc._experiments import (
    settings,
)


def test_settings_are_the_published_ones():
    """The table of the paper's settings, written again."""
    animals = settings.read_settings("animals")["model"]
    fashion = settings.read_settings("fashion")["model"]
    for found, wanted in ((animals, (4, 0.4, 1, 0.5)), (fashion, (5, 0.5, 1.5, 2))):
        assert [found[key] for key in ("n_levels", "alpha", "gamma0", "gamma")] == list(wanted)
        assert (found["n_warmup"], found["n_draws"], found["estimate"]) == (500, 5000, "map")
        family = settings.likelihood_of(found["likelihood"], np.eye(3))
        assert repr(family) == repr(likelihoods.Gaussian(sigma2=1.0, mu0=0.0, sigma0=1.0))
    amazon = settings.read_settings("amazon")["bhmc-paper"]
    assert (amazon["n_levels"], amazon["n_warmup"], amazon["n_draws"]) == (7, 500, 2500)
    assert amazon["hyper"] == "paper"
    family = settings.likelihood_of(amazon["likelihood"], np.eye(3))
    assert family.sigma2 == priors.Uniform(0.0, 0.1)


def test_settings_of_the_supplement_are_the_published_ones():
    wanted = {
        ("animals", "niw"): (4, 0.3, 1, 1.15, 0.1, 10),
        ("fashion", "a"): (4, 0.5, 5, 0.05, 0.01, 200),
        ("fashion", "b"): (4, 0.35, 5, 1.5, 0.02, 200),
        ("amazon", "niw"): (8, 1.65, 8.755, 0.5, 0.0373, 209.49),
    }
    for (experiment, name), numbers in wanted.items():
        found = settings.read_settings(experiment)["supplement"][name]
        family = found["likelihood"]
        four = [found[key] for key in ("n_levels", "alpha", "gamma0", "gamma")]
        assert (*four, family["lam"], family["nu"]) == numbers


@pytest.mark.parametrize("name", ["animals", "fashion", "amazon", "compare"])
def test_quick_is_quick_everywhere(name):
    def look(part):
        if isinstance(part, dict):
            assert part.get("n_draws", 0) <= 40
            for one in part.values():
                look(one)

    look(settings.read_settings(name, quick=True))


def test_every_model_of_the_settings_can_be_made():
    X = np.random.default_rng(0).normal(size=(30, 3))
    n_models = 0

    def look(part):
        nonlocal n_models
        if isinstance(part, dict) and "n_levels" in part:
            model = bhmc.BHMC(**settings.model_parameters(part, X))
            model.set_params(n_warmup=1, n_draws=1, n_chains=1, n_levels=1).fit(X)
            n_models += 1
        elif isinstance(part, dict):
            for one in part.values():
                look(one)

    for name in ("animals", "amazon", "compare"):
        part = settings.read_settings(name)
        part.pop("supplement", None)
        look(part)
    assert n_models == 13


def models_of(part, path=()):
    """(path, settings) of every model in the settings."""
    if isinstance(part, dict) and "n_levels" in part:
        yield path, part
    elif isinstance(part, dict):
        for key, one in part.items():
            yield from models_of(one, (*path, key))


@pytest.mark.parametrize("name", ["animals", "fashion", "amazon", "compare"])
def test_every_model_names_its_transition(name):
    """So that a change of a default changes no experiment; `compare.bhmc` is the defaults."""
    for path, model in models_of(settings.read_settings(name)):
        named = model.get("transition")
        if path[-1] == "bhmc":
            assert named is None
            assert name == "compare"
        else:
            assert named == ("diffused" if "diffused" in path[-1] else "hdp"), path


@pytest.mark.parametrize("name", ["animals", "fashion", "amazon"])
def test_the_diffused_model_is_the_defaults_with_the_published_levels(name):
    found = settings.read_settings(name)
    keys = ("bhmc-paper", "bhmc-diffused") if name == "amazon" else ("model", "diffused")
    published, diffused = (found[key] for key in keys)
    assert diffused == {"transition": "diffused", "n_levels": published["n_levels"]}
