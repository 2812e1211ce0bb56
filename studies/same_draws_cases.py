"""The cases of `same_draws`, by the public interface alone and with every setting given.

First tables (by NumPy alone) and families, then the cases, then digests of some of them: hashes of
whole numbers, and floats, for a test that needs no older code.
"""

import hashlib
import importlib
import importlib.util
import json
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import bhmc
from bhmc import baselines, priors
from bhmc import likelihoods as lik

N_ROWS = 26

_FULL = np.array([[0.5, 0.1, 0.0], [0.1, 0.4, 0.05], [0.0, 0.05, 0.6]])

_ADAPTIVE = {"location": 0.1, "scale": 2.0, "least_variance": 0.03}
_SHARED = {
    "location": 0.1,
    "scale": 2.0,
    "noise_shape": 1.0,
    "noise_scale": 0.2,
    "spread_shape": 1.0,
    "spread_scale": 0.2,
    "least_variance": 0.02,
}
_FREE = {"location": 0.1, "scale": 2.0, "shape": 2.0, "noise": 0.2, "strength": 0.2}

MEASURED = {
    "gaussian-scalar": lik.Gaussian(sigma2=0.5, mu0=0.2, sigma0=4.0),
    "gaussian-diagonal": lik.Gaussian(sigma2=[0.5, 0.4, 0.6], mu0=[0.0, 0.1, 0.2], sigma0=4.0),
    "gaussian-full": lik.Gaussian(sigma2=_FULL, mu0=0.0, sigma0=8 * _FULL[::-1, ::-1]),
    "gaussian-uniform": lik.Gaussian(sigma2=priors.Uniform(0, 1.5), mu0=0.0, sigma0=4.0),
    "gaussian-inverse": lik.Gaussian(sigma2=priors.InverseGamma(2, 1), mu0=0.0, sigma0=_FULL),
    "gaussian-slice": lik.Gaussian(sigma2=priors.Gamma(2, 4), mu0=0.0, sigma0=[3.0, 4.0, 5.0]),
    "adaptive": lik.AdaptiveGaussian(covariance="diagonal", **_ADAPTIVE),
    "adaptive-spherical": lik.AdaptiveGaussian(covariance="spherical", **_ADAPTIVE),
    "shared": lik.SharedGaussian(covariance="diagonal", **_SHARED),
    "shared-spherical": lik.SharedGaussian(covariance="spherical", **_SHARED),
    "free": lik.FreeGaussian(covariance="diagonal", **_FREE),
    "free-spherical": lik.FreeGaussian(covariance="spherical", **_FREE),
    "full": lik.FullGaussian(nu=5.5, lam=0.2, mu0=0.0, sigma0=_FULL),
}

_COUNTED = {
    "bernoulli": lik.Bernoulli(a=0.6, b=[0.5, 0.8, 1.2]),
    "categorical": lik.Categorical(concentration=0.7, n_categories=[3, 4, 2]),
    "poisson": lik.Poisson(shape=[1.0, 1.5, 2.0], rate=0.5),
    "multinomial": lik.Multinomial(concentration=0.8, n_trials=9),
}

_MIXED = lik.Product(
    [
        (lik.SharedGaussian(covariance="diagonal", **_SHARED), [0, 4]),
        (lik.Bernoulli(a=0.6, b=0.9), [1]),
        (lik.Categorical(concentration=0.7, n_categories=3), [2]),
        (lik.Poisson(shape=1.0, rate=0.5), [3]),
        (lik.AdaptiveGaussian(covariance="diagonal", **_ADAPTIVE), [5]),
    ]
)

FAMILIES = {**MEASURED, **_COUNTED, "multinomial-sparse": _COUNTED["multinomial"], "mixed": _MIXED}

ALLOW_MISSING = [name for name, family in FAMILIES.items() if family.allows_missing]

N_FEATURES = {"mixed": 6}


def rows_of(family: str, n: int = N_ROWS):
    """Return n rows that the family can hold, in a few clear groups."""
    if family == "mixed":
        parts = [_measured(n)[:, :1], _bits(n)[:, :1], _codes(n)[:, :1], _counts(n)[:, :1]]
        return np.hstack([*parts, _measured(n)[:, 1:]])
    makers = {
        "bernoulli": _bits,
        "categorical": _codes,
        "poisson": _counts,
        "multinomial": _words,
        "multinomial-sparse": lambda n: sparse.csr_matrix(_words(n)),
    }
    return makers.get(family, _measured)(n)


def with_gaps(X):
    """Return the rows with some entries missing, and one row without any."""
    X = X.copy()
    X[np.random.default_rng(5).random(X.shape) < 0.15] = np.nan
    X[3] = np.nan
    return X


def far_rows(family: str):
    """Return rows with two of them so far away that sums of statistics do not subtract well."""
    X, far = _measured(N_ROWS), 5e3 if family == "full" else 1e7
    X[4] += far
    X[9] -= 0.3 * far
    return X


def frame_columns() -> dict[str, list]:
    """Return the columns of a frame of numbers, truth values and text with gaps."""
    rng, which = np.random.default_rng(9), np.arange(N_ROWS) % 3
    weight = (4.0 + 9.0 * which + rng.standard_normal(N_ROWS)).tolist()
    coat = [str(word) for word in np.array(["short", "long", "curly"])[which]]
    weight[5], coat[7] = None, None
    coat[8] = "long"
    return {
        "weight": weight,
        "coat": coat,
        "barks": (which > 0).tolist(),
        "litters": rng.poisson(1.0 + 2.0 * which).tolist(),
    }


def frame_family() -> lik.Product:
    """Return a family for the frame, by the names of its columns."""
    return lik.Product(
        [
            (lik.FreeGaussian(covariance="diagonal", **_FREE), ["weight"]),
            (lik.Poisson(shape=1.0, rate=0.5), ["litters"]),
            (lik.Bernoulli(a=0.5, b=0.5), ["barks"]),
            ("categorical", ["coat"]),
        ]
    )


def _measured(n: int):
    """Return n rows of three numbers around four middles."""
    rng = np.random.default_rng(1)
    middles = np.array([[-3.0, -2.0, 0.0], [-3.0, 2.0, 0.5], [3.0, 2.5, -1.0], [2.0, -3.0, 1.0]])
    return middles[np.arange(n) % 4] + 0.7 * rng.standard_normal((n, 3))


def _bits(n: int):
    """Return n rows of three zeros or ones."""
    share = np.array([[0.9, 0.1, 0.2], [0.1, 0.8, 0.9], [0.5, 0.9, 0.1]])
    return (np.random.default_rng(2).random((n, 3)) < share[np.arange(n) % 3]).astype(float)


def _codes(n: int):
    """Return n rows of three codes, below 3, 4 and 2."""
    codes = np.random.default_rng(3).integers([3, 4, 2], size=(n, 3))
    codes[::2, 0], codes[1::3, 1] = 1, 3
    return codes.astype(float)


def _counts(n: int):
    """Return n rows of three counts."""
    rate = np.array([[1.0, 8.0, 3.0], [9.0, 1.0, 0.5]])
    return np.random.default_rng(4).poisson(rate[np.arange(n) % 2]).astype(float)


def _words(n: int):
    """Return n rows of counts of six words."""
    share = np.array([[5, 3, 1, 0.5, 0.3, 0.2], [0.2, 0.3, 0.5, 1, 3, 5]]) / 10
    rng = np.random.default_rng(6)
    return np.array([rng.multinomial(9 + i % 4, share[i % 2]) for i in range(n)]).astype(float)


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
    "estimate": "vi",
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
    *("support", "component_means", "feature_means", "feature_scales", "heights"),
)
_STATE = ("paths", "components", "parents", "log_weights", "theta", "shared", "hyper")


def cases() -> dict[str, Case]:
    """Return every case by its name."""
    makers = (_matrix, _missing, _settings, _starts, _large, _named, _frames, _functional, _others)
    found = [one for maker in makers for one in maker()]
    assert len(dict(found)) == len(found), "two cases have one name"
    return dict(found)


def run(name: str, case: Case) -> Fields:
    """Run a case; what it raises is its only field."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return {field: np.asarray(value) for field, value in case().items()}
        except Exception as error:  # said as the case's outcome
            return {"error": np.asarray(f"{name}: {type(error).__name__}: {error}")}


def fitted(X, *, seed: str, sampler: str, form: str, **settings) -> bhmc.BHMC:
    """Return a model fitted to X with every setting given."""
    given = {**_USUAL, "init": SAMPLERS[sampler], **FORMS[form], **settings}
    return bhmc.BHMC(sampler=sampler, random_state=_seed(seed), **given).fit(X)


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
    return found | _tree_fields(model.tree_)


def forms_of(sampler: str) -> list[str]:
    """Return the forms of the model that the sampler has."""
    return [form for form in FORMS if sampler != "paper" or not form.startswith("finite")]


def _tree_fields(tree: bhmc.Tree) -> Fields:
    """Return the arrays of a tree that are known."""
    found = {f"tree.{name}": getattr(tree, name) for name in _TREE}
    return {name: value for name, value in found.items() if value is not None}


def _state_fields(state: bhmc.State, at: str) -> Fields:
    """Return the arrays of a state; `n_components` of its concentrations is 0 for None."""
    found = {f"{at}.{name}": getattr(state, name) for name in _STATE}
    return found | {f"{at}.hyper": np.array([value or 0 for value in state.hyper], float)}


def _seed(name: str) -> int:
    """Return a seed of the case's own."""
    return zlib.crc32(name.encode())


def _fit(X, name: str, **settings) -> tuple[str, Case]:
    """Return a case that fits X and looks at the fit."""
    return name, lambda: fields_of(fitted(X(), seed=name, **settings))


def _matrix() -> Iterator[tuple[str, Case]]:
    """Yield every sampler with every family in every form."""
    for family, likelihood in FAMILIES.items():
        for sampler in SAMPLERS:
            for form in forms_of(sampler):
                name, rows = f"fit/{family}/{sampler}/{form}", partial(rows_of, family)
                yield _fit(rows, name, sampler=sampler, form=form, likelihood=likelihood)


def _missing() -> Iterator[tuple[str, Case]]:
    """Yield every sampler with missing entries, and Gaussians with far rows."""
    for sampler in SAMPLERS:
        settings = {"sampler": sampler, "form": "infinite"}
        for family in ALLOW_MISSING:
            name, rows = f"missing/{family}/{sampler}", partial(_gaps, family)
            yield _fit(rows, name, likelihood=FAMILIES[family], **settings)
        for family, likelihood in MEASURED.items():
            name, rows = f"far/{family}/{sampler}", partial(far_rows, family)
            yield _fit(rows, name, likelihood=likelihood, **settings)


def _gaps(family: str):
    return with_gaps(rows_of(family))


def _settings() -> Iterator[tuple[str, Case]]:
    """Yield the settings of a fit, one after the other, and what a fit predicts."""
    several = {
        "one-level": {"n_levels": 1},
        "four-levels": {"n_levels": 4},
        "chains": {"n_chains": 3, "n_jobs": 2},
        "thin": {"thin": 3},
        "map": {"estimate": "map"},
        "summary": {"keep": "summary", "n_draws": 12},
        "summary-map": {"keep": "summary", "estimate": "map", "n_chains": 2},
        "auto": {"keep": "auto"},
        "no-warmup": {"n_warmup": 0},
        "tidy": {"n_draws": 45},
    }
    for sampler in SAMPLERS:
        for family in ("gaussian-scalar", "bernoulli", "mixed"):
            usual = {"likelihood": FAMILIES[family], "sampler": sampler, "form": "learned"}
            rows = partial(rows_of, family)
            for what, settings in several.items():
                yield _fit(rows, f"set/{what}/{family}/{sampler}", **usual, **settings)
    for family, likelihood in FAMILIES.items():
        learns_noise = isinstance(getattr(likelihood, "sigma2", None), priors.Prior)
        for sampler in () if learns_noise else SAMPLERS:  # which float32 refuses
            name, rows = f"float32/{family}/{sampler}", partial(rows_of, family)
            settings = {"sampler": sampler, "form": "infinite", "precision": "float32"}
            yield _fit(rows, name, likelihood=likelihood, **settings)
        yield f"predict/{family}", partial(_predictions, family)
    for sampler in SAMPLERS:
        for form in forms_of(sampler):
            yield f"checkpoint/{sampler}/{form}", partial(_continued, sampler, form)


def _predictions(family: str) -> Fields:
    """Fit, save, load, and ask for everything about new rows."""
    settings = {"sampler": "gibbs", "form": "learned", "likelihood": FAMILIES[family]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.bhmc")
        fitted(rows_of(family), seed=family, n_chains=2, **settings).save(path)
        model = bhmc.BHMC.load(path)
    return fields_of(model) | _asked(model, rows_of(family, 40)[30:])


def _asked(model: bhmc.BHMC, X) -> Fields:
    """Return all that a model says of rows."""
    places, new = model.predict_proba(X, level=1, return_new=True)
    return {
        "predict": model.predict(X, level=1),
        "predict_path": model.predict_path(X),
        "predict_proba": places,
        "predict_new": new,
        "predict_leaf": model.predict_proba(X),
        "predict_component": model.predict_component(X),
        "transform": model.transform(X),
        "score_samples": model.score_samples(X),
        "sample": np.asarray(model.sample(7, random_state=3)).astype("U24"),
    }


def _continued(sampler: str, form: str) -> Fields:
    """Fit, then go on with more draws from the files of the first fit."""
    settings = {"sampler": sampler, "form": form, "likelihood": FAMILIES["adaptive"]}
    X, found = rows_of("adaptive"), {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chain")
        for n_draws in (3, 8):
            more = {"checkpoint": path, "n_draws": n_draws, "n_chains": 2}
            found = fields_of(fitted(X, seed=f"{sampler}{form}", **settings, **more))
    return found


def _starts() -> Iterator[tuple[str, Case]]:
    """Yield every start, in the infinite and the finite form."""
    first = np.arange(N_ROWS) % 4
    inits = {name: name for name in ("prior", "single", "singletons", "kmeans", "ward")}
    inits |= {"labels": first, "nested": np.column_stack([first // 2, first])}
    for family in ("gaussian-full", "gaussian-uniform", "bernoulli", "multinomial-sparse", "mixed"):
        for what, init in inits.items():
            for form, k in (("infinite", None), ("finite", N_ROWS + 2), ("learned", None)):
                settings = {**FORMS[form], "fixed_components": k, "likelihood": FAMILIES[family]}
                name, rows = f"init/{what}/{family}/{form}", partial(rows_of, family)
                given = {"sampler": "gibbs", "form": form, "init": init, "n_draws": 3}
                yield _fit(rows, name, **{**settings, **given})
    for what in ("kmeans", "ward"):
        settings = {"sampler": "gibbs", "form": "infinite", "likelihood": FAMILIES["shared"]}
        yield _fit(partial(_gaps, "shared"), f"init/{what}/gaps", init=what, **settings)


def _large() -> Iterator[tuple[str, Case]]:
    """Yield more than one tile of rows."""
    sizes = {"bernoulli": 3000, "adaptive": 2500, "gaussian-diagonal": 5000, "mixed": 2300}
    for family, n in sizes.items():
        for sampler in SAMPLERS:
            more = {"n_warmup": 1, "n_draws": 2, "init": "kmeans", "likelihood": FAMILIES[family]}
            name, rows = f"large/{family}/{sampler}", partial(rows_of, family, n)
            form = "infinite" if sampler == "paper" else "learned"
            yield _fit(rows, name, sampler=sampler, form=form, **more)


def _named() -> Iterator[tuple[str, Case]]:
    """Yield families by name, which take their scales from the data."""
    names = {
        "bernoulli": "bernoulli",
        "categorical": "categorical",
        "poisson": "poisson",
        "multinomial": "multinomial",
    }
    for kind in ("gaussian", "spherical_gaussian", "shared_gaussian", "free_gaussian"):
        names[kind] = "gaussian-scalar"
    names |= {"full_gaussian": "gaussian-scalar", "known_gaussian": "gaussian-scalar"}
    settings = {"sampler": "gibbs", "form": "learned"}
    for name, family in names.items():
        rows = partial(rows_of, family, 40)
        yield _fit(rows, f"named/{name}", likelihood=name, **settings)
    for family in ("gaussian-scalar", "bernoulli", "poisson", "multinomial-sparse"):
        rows = partial(rows_of, family, 40)
        yield _fit(rows, f"auto/{family}", likelihood="auto", **settings)


def _frames() -> Iterator[tuple[str, Case]]:
    """Yield frames of numbers, truth values and text, with what a fit says of new rows."""
    makers = [one for one in ("pandas", "polars") if importlib.util.find_spec(one)]
    for maker in makers:
        for sampler in SAMPLERS:
            for form in forms_of(sampler):
                yield f"frame/{maker}/{sampler}/{form}", partial(_frame, maker, sampler, form)


def _frame(maker: str, sampler: str, form: str) -> Fields:
    """Fit a frame by "auto" and by a product of named columns."""
    frame = importlib.import_module(maker).DataFrame(frame_columns())
    found = {}
    for what, likelihood in (("auto", "auto"), ("product", frame_family())):
        given = {"sampler": sampler, "form": form, "likelihood": likelihood, "n_draws": 4}
        model = fitted(frame, seed=f"{what}{sampler}{form}", **given)
        found |= {f"{what}.{k}": v for k, v in fields_of(model).items()}
        found |= {f"{what}.{k}": v for k, v in _asked(model, frame[:9]).items()}
        found[f"{what}.categories"] = np.array(repr(model.categories_))
    return found


def _functional() -> Iterator[tuple[str, Case]]:
    """Yield sweeps by hand, from the prior."""
    for family in FAMILIES:
        for sampler in SAMPLERS:
            for form in forms_of(sampler):
                if not form.endswith("walk"):
                    name = f"sweep/{family}/{sampler}/{form}"
                    yield name, partial(_sweeps, name, family, sampler, form)


def _sweeps(name: str, family: str, sampler: str, form: str) -> Fields:
    """Draw from the prior, sweep, draw data afresh, sweep; look at the next random number."""
    given, likelihood = FORMS[form], FAMILIES[family]
    numbers = (given["alpha"], given["gamma0"], given["gamma"], given["fixed_components"])
    hyper, rng = bhmc.Hyper(*numbers), np.random.default_rng(_seed(name))
    model = {"hyper": hyper, "likelihood": likelihood}
    width = rows_of(family).shape[1]
    state, X = bhmc.sample_prior(18, n_levels=3, n_features=width, rng=rng, **model)
    found = _state_fields(state, "prior") | {"X": X}
    kept = []
    for _ in range(5):
        table = sparse.csr_matrix(X) if family.endswith("sparse") else X
        for _ in range(2):
            state, info = bhmc.sweep(state, table, sampler=sampler, rng=rng, **model)
        kept.append([*info, bhmc.log_joint(state, table, **model)])
        X = bhmc.sample_data(state, likelihood=likelihood, rng=rng)
    found |= _state_fields(state, "last") | {"fresh": X, "trace": np.array(kept, float)}
    return found | {"next_random": rng.random(3)}


def _others() -> Iterator[tuple[str, Case]]:
    """Yield what is beside the sampler: the prior, the search, the rivals."""
    for form in ("infinite", "finite", "learned", "finite-learned"):
        yield f"describe_prior/{form}", partial(_description, form)
    for family in ("gaussian-scalar", "full", "adaptive", "bernoulli"):
        yield f"search/{family}", partial(_searched, family)
    rates = {"alpha": 0.2, "theta": 0.5, "c": 1.0, "sigma2": 4.0, "noise": 0.1}
    learned = {
        "alpha": priors.Beta(1, 2),
        "theta": priors.Gamma(1, 1),
        "c": priors.Gamma(2, 1),
        "sigma2": priors.InverseGamma(2, 3),
        "noise": priors.InverseGamma(1, 0.1),
    }
    binary = {**rates, "alpha": 0.0, "theta": 0.0}
    for what, given in (("fixed", rates), ("learned", learned), ("binary", binary)):
        for sampler in ("slice", "mh"):
            yield f"pydt/{sampler}/{what}", partial(_diffusion, sampler, given)
    for masking in ("mean", "boxes", "exact", "none"):
        yield f"perch/{masking}", partial(_perched, masking, False, None, None)
        yield f"perch/{masking}/balance", partial(_perched, masking, True, None, None)
    yield "perch/beam", partial(_perched, "mean", False, None, 3)
    yield "perch/leaves", partial(_perched, "mean", True, 12, None)
    yield "ward", lambda: _grown(baselines.Ward(n_clusters=4))
    random = {"n_clusters": 4, "alpha": 0.8, "n_levels": 3, "random_state": 1}
    yield "random-tree", lambda: _grown(baselines.RandomTree(**random))


def _description(form: str) -> Fields:
    """Describe what settings imply."""
    given = {name: value for name, value in FORMS[form].items() if name != "hyper"}
    told = bhmc.describe_prior(60, n_levels=2, n_samples=12, random_state=4, **given)
    return {line.what: np.array(line[1:5]) for line in told.lines}


def _searched(family: str) -> Fields:
    """Search a little; scores of the defaults, which may change, are left out."""
    wanted = {
        "n_levels": [1, 2],
        "alpha": priors.Gamma(2, 4),
        "gamma0": priors.Gamma(5, 4),
        "gamma": priors.Uniform(0, 1),
    }
    chains = {"subset": 24, "rounds": 3, "warmup": 2, "draws": 2, "n_jobs": 1}
    given = {"likelihood": FAMILIES[family], "priors": wanted, "random_state": 6, **chains}
    table = bhmc.search(rows_of(family), progress=False, **given).table[1:]
    names = ("n_levels", "alpha", "gamma0", "gamma", "score", "components")
    return {name: np.array([row[name] for row in table]) for name in names}


def _diffusion(sampler: str, rates: dict) -> Fields:
    """Grow diffusion trees."""
    given = {"n_warmup": 2, "n_draws": 5, "moves_per_draw": 30, "max_seconds": None}
    model = baselines.PYDT(n_clusters=4, sampler=sampler, random_state=2, **given, **rates)
    found = _grown(model) | {"log_joint": model.log_joint_, "moves": model.n_moves_}
    return found | {f"traces.{name}": trace for name, trace in model.traces_.items()}


def _perched(masking: str, balance: bool, max_leaves: int | None, beam: int | None) -> Fields:
    """Grow a tree by one row at a time, then more rows as they come."""
    model = baselines.Perch(
        n_clusters=4,
        masking=masking,
        balance=balance,
        max_leaves=max_leaves,
        beam=beam,
        max_levels=None,
        shuffle=True,
        random_state=8,
    )
    found = _grown(model)
    later = model.partial_fit(rows_of("adaptive", 60)[40:])
    return found | {f"later.{k}": v for k, v in _tree_fields(later.tree_).items()}


def _grown(model) -> Fields:
    """Fit a rival and look at its tree."""
    model.fit(rows_of("adaptive", 40))
    return _tree_fields(model.tree_) | {"labels": model.labels_}


_WHOLE = ("draws.paths", "draws.components", "last.paths", "last.components")
_REAL = (
    *("draws.log_joint", "draws.log_likelihood", "draws.alpha", "draws.gamma0", "draws.gamma"),
    *("tree.theta", "tree.shared", "trace", "next_random"),
)

# At most so many floats of a field are kept, the last ones: they depend on all before.
_MOST_FLOATS = 12

RELATIVE = 1e-9
"""How far floats may be apart, as a share of the largest of their field."""

Digest = dict[str, str | list[float]]


def digested_names() -> list[str]:
    """Return the cases with a digest: every sampler and family once, forms in turn."""
    names = []
    for i, family in enumerate(FAMILIES):
        for j, sampler in enumerate(SAMPLERS):
            forms = forms_of(sampler)
            form = forms[(i + j) % len(forms)]
            what = "sweep" if (i + j) % 4 == 3 and not form.endswith("walk") else "fit"
            names.append(f"{what}/{family}/{sampler}/{form}")
    return names


def digests() -> dict[str, Digest]:
    """Run the cases with a digest; return hashes of their draws and some of their floats."""
    known = cases()
    return {name: digest(run(name, known[name])) for name in digested_names()}


def digest(fields: Fields) -> Digest:
    """Return a hash of the paths and components, and floats as a list for each field."""
    if "error" in fields:
        return {"error": str(fields["error"])}
    whole = hashlib.sha256()
    for name in _WHOLE:
        if name in fields:
            whole.update(str(fields[name].shape).encode())
            whole.update(np.ascontiguousarray(fields[name], dtype="<i8").tobytes())
    found: Digest = {"draws": whole.hexdigest()}
    for name in _REAL:
        if name in fields and fields[name].size:
            found[name] = np.ravel(fields[name]).tolist()[-_MOST_FLOATS:]
    return found


def differing(expected: Mapping[str, Digest], found: Mapping[str, Digest]) -> list[str]:
    """Return a line for each case and field that is not the same in both."""
    lines = []
    for name in sorted({*expected, *found}):
        old, new = expected.get(name, {}), found.get(name, {})
        unlike = [field for field in {**old, **new} if not _alike(old.get(field), new.get(field))]
        lines += [f"{name}: {field}" for field in unlike]
    return lines


def write_digests(path: Path) -> None:
    """Write the digests of the `bhmc` in the path as JSON, a line a case."""
    rows = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in digests().items()]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def _alike(old, new) -> bool:
    """Return whether two hashes are equal, or two lists of floats nearly so."""
    if not (isinstance(old, list) and isinstance(new, list)):
        return old == new
    if len(old) != len(new):
        return False
    scale = np.max(np.abs(old), initial=1e-300, where=np.isfinite(old))
    return np.allclose(new, old, rtol=RELATIVE, atol=RELATIVE * scale, equal_nan=True)
