"""Fits with every setting given, and the arrays that a fit shows."""

import zlib
from collections.abc import Callable

import numpy as np

import bhmc
from bhmc import priors

Fields = dict[str, np.ndarray]
Case = Callable[[], Fields]

SAMPLERS = {"gibbs": "kmeans", "mh": "prior", "paper": "single"}
"""Each sampler, and where its chains start."""

_NUMBERS = {"alpha": 0.7, "gamma0": 1.5, "gamma": 0.6}
_LEARNED = {
    "alpha": priors.Gamma(2, 10),
    "gamma0": priors.InverseGamma(2, 2),
    "gamma": priors.Beta(2, 3),
}
_PAPERS = {
    "alpha": priors.Gamma(3, 1),
    "gamma0": priors.Gamma(3.5, 1),
    "gamma": priors.Uniform(0, 1.5),
}
FORMS = {
    "infinite": {**_NUMBERS, "hyper": "exact", "fixed_components": None},
    "finite": {**_NUMBERS, "hyper": "exact", "fixed_components": 5},
    "learned": {**_LEARNED, "hyper": "exact", "fixed_components": None},
    "finite-learned": {**_LEARNED, "hyper": "exact", "fixed_components": 4},
    "walk": {**_PAPERS, "hyper": "paper", "fixed_components": None},
    "finite-walk": {**_PAPERS, "hyper": "paper", "fixed_components": 4},
}

_USUAL = {
    "n_levels": 2,
    "n_warmup": 3,
    "n_draws": 6,
    "thin": 1,
    "n_chains": 1,
    "n_jobs": 1,
    "precision": "float64",
    "estimate": "map",  # a draw; what "vi" makes of the draws is not judged here
    "keep": "paths",
    "checkpoint": None,
    "progress": False,
}

_DRAWS = (
    *("log_joint", "log_likelihood", "n_nodes", "n_components", "component_entropy"),
    *("alpha", "gamma0", "gamma", "nodes_at", "entropy_at", "shared", "together", "pairs"),
    *("partition_index", "mixture_index"),
)
_TREE = (
    *("parents", "levels", "sizes", "weights", "paths", "components", "theta", "alpha", "shared"),
    *("component_means", "feature_means", "feature_scales", "heights"),
)
_STATE = ("paths", "components", "parents", "log_weights", "theta", "shared", "hyper")


def fitted(X, *, seed: str, sampler: str, form: str, **settings) -> bhmc.BHMC:
    """Return a model fitted to X with every setting given."""
    given = {**_USUAL, "init": SAMPLERS[sampler], **FORMS[form], **settings}
    if "moves" in bhmc.BHMC().get_params():  # the old code has none
        given.setdefault("moves", ())
    if "transition" in bhmc.BHMC().get_params():  # the old code has one
        given.setdefault("transition", "hdp")
    return bhmc.BHMC(sampler=sampler, random_state=seed_of(seed), **given).fit(X)


def fields_of(model: bhmc.BHMC) -> Fields:
    """Return what a fit drew and what it shows of it."""
    draws, found = model.draws_, {}
    found |= {f"draws.{name}": getattr(draws, name) for name in _DRAWS}
    paths = [one.paths(draws.n_levels) for one in draws.partitions]
    found["draws.paths"] = np.array(paths)
    found["draws.components"] = np.array([one.component for one in draws.partitions], np.int64)
    found["draws.parents"] = np.concatenate([one.parents for one in draws.partitions])
    for name in ("weights", "theta", "shared"):
        parts = [np.ravel(getattr(one, name)) for one in draws.mixtures]
        found[f"mixtures.{name}"] = np.concatenate(parts) if parts else np.empty(0)
    for name in ("alpha", "gamma0", "gamma", "shared"):
        if hasattr(model, "warmup_traces_"):
            found[f"warmup.{name}"] = getattr(model.warmup_traces_, name)
    found |= {"labels": model.labels_, "likelihood": model.likelihood_.describe()}
    return found | tree_fields(model.tree_)


def forms_of(sampler: str) -> list[str]:
    """Return the forms of the model that the sampler has."""
    return [form for form in FORMS if sampler != "paper" or not form.startswith("finite")]


def tree_fields(tree: bhmc.Tree) -> Fields:
    """Return the arrays of a tree that are known."""
    found = {f"tree.{name}": getattr(tree, name) for name in _TREE}
    return {name: value for name, value in found.items() if value is not None}


def state_fields(state: bhmc.State, at: str) -> Fields:
    """Return the arrays of a state; `n_components` of its concentrations is 0 for None."""
    found = {f"{at}.{name}": getattr(state, name) for name in _STATE}
    return found | {f"{at}.hyper": np.array([value or 0 for value in state.hyper], float)}


def seed_of(name: str) -> int:
    """Return a seed of the case's own."""
    return zlib.crc32(name.encode())
