"""The cases of `same_draws`, by the public interface alone and with every setting given."""

import importlib
import importlib.util
import tempfile
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import bhmc
from bhmc import baselines, priors
from studies.same_draws.data import (
    ALLOW_MISSING,
    FAMILIES,
    MEASURED,
    N_ROWS,
    far_rows,
    frame_columns,
    frame_family,
    rows_of,
    with_gaps,
)
from studies.same_draws.fits import (
    FORMS,
    SAMPLERS,
    Case,
    Fields,
    fields_of,
    fitted,
    forms_of,
    seed_of,
    state_fields,
    tree_fields,
)


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
        "summary": {"keep": "summary", "n_draws": 12},
        "summary-chains": {"keep": "summary", "n_chains": 2},
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
    hyper, rng = bhmc.Hyper(*numbers), np.random.default_rng(seed_of(name))
    model = {"hyper": hyper, "likelihood": likelihood}
    width = rows_of(family).shape[1]
    state, X = bhmc.sample_prior(18, n_levels=3, n_features=width, rng=rng, **model)
    found = state_fields(state, "prior") | {"X": X}
    kept = []
    for _ in range(5):
        table = sparse.csr_matrix(X) if family.endswith("sparse") else X
        for _ in range(2):
            state, info = bhmc.sweep(state, table, sampler=sampler, rng=rng, **model)
        kept.append([*info, bhmc.log_joint(state, table, **model)])
        X = bhmc.sample_data(state, likelihood=likelihood, rng=rng)
    found |= state_fields(state, "last") | {"fresh": X, "trace": np.array(kept, float)}
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
    return found | {f"later.{k}": v for k, v in tree_fields(later.tree_).items()}


def _grown(model) -> Fields:
    """Fit a rival and look at its tree."""
    model.fit(rows_of("adaptive", 40))
    return tree_fields(model.tree_) | {"labels": model.labels_}
