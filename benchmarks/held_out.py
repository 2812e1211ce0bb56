"""Log density of rows that no fit has seen, beside scikit-learn's mixtures of Gaussians.

    python -m benchmarks.held_out [digits wine breast_cancer fashion] [--splits 5] [--json FILE]
        [--transition hdp diffused] [--likelihood spherical_gaussian gaussian] [--n_draws 300] ...

A figure is the mean log density of a row among the fifth of the rows that was held out, and its
standard deviation over splits. All methods see the same standardised columns: those in different
units are divided by their own standard deviations, the others all by one number, taken from the
rows of the fit. Digits are in their 16 leading principal components. `BayesianGaussianMixture` has
5, 10, 20 or 40 components, whichever has the best mean on the held-out rows themselves; its density
is that of the estimated weights, means and covariances. A fit must reach the "hdp" fit of the same
family, and the mixture whose covariances have its structure. Every other parameter of `BHMC` is an
option of the same name. No label is read.
"""

import argparse
import itertools
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from benchmarks.bounds import Check
from benchmarks.fits import add_settings, timed_fit, write
from benchmarks.tables import TABLES, different_units
from bhmc import BHMC, warmup

NAMES = ("digits", "wine", "breast_cancer", "fashion")
STRUCTURES = ("spherical", "diag", "tied", "full")
SIZES = (5, 10, 20, 40)


class Split(NamedTuple):
    """Rows of the fit and rows held out, standardised by the former."""

    train: np.ndarray
    test: np.ndarray


def numbers_of(name: str) -> np.ndarray | None:
    """A table without its classes."""
    table = TABLES[name]()
    if table is None:
        return None
    X = np.asarray(table[0], dtype=float)
    return PCA(16, svd_solver="full").fit_transform(X) if name == "digits" else X


def split(X: np.ndarray, seed: int, *, each_column: bool) -> Split:
    """A random fifth held out; columns centred, and scaled one by one or all alike."""
    order = np.random.default_rng(seed).permutation(len(X))
    test, train = np.split(X[order], [len(X) // 5])
    centred = train - train.mean(axis=0)
    scale = centred.std(axis=0) if each_column else centred.std()
    return Split(centred / scale, (test - train.mean(axis=0)) / scale)


def splits_of(name: str, X: np.ndarray, n: int) -> list[Split]:
    """The first n splits of a table."""
    return [split(X, seed, each_column=different_units(name)) for seed in range(n)]


def plug_in(model: BayesianGaussianMixture) -> GaussianMixture:
    """The mixture at the estimated weights, means and covariances.

    `score` of a `BayesianGaussianMixture` averages logarithms over its posterior: what it returns
    is no density, integrates to less than 1, and would make the comparison too easy.
    """
    mixture = GaussianMixture(model.n_components, covariance_type=model.covariance_type)
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
        setattr(mixture, name, getattr(model, name))
    return mixture


def mixture_scores(parts: Split, structure: str, size: int) -> tuple[float, float]:
    """(mean held-out log density, scikit-learn's own `score`) of one mixture."""
    model = BayesianGaussianMixture(
        n_components=size, covariance_type=structure, max_iter=1000, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(parts.train)
    return float(plug_in(model).score(parts.test)), float(model.score(parts.test))


def best_mixture(parts: list[Split], structure: str) -> dict:
    """Components, density and `score` of every split, for the size that is densest on average."""
    found = {}
    for size in SIZES:
        density, score = zip(*(mixture_scores(one, structure, size) for one in parts), strict=True)
        found[size] = {"size": size, "density": list(density), "score": list(score)}
    return max(found.values(), key=lambda one: np.mean(one["density"]))


def fitted_one(parts: Split, seed: int, settings: dict) -> dict:
    """One fit: the held-out density, components and CPU seconds."""
    model, seconds, _ = timed_fit(parts.train, seed, settings)
    density, size = float(model.score_samples(parts.test).mean()), model.tree_.n_components
    print(f"  split {seed}: {density:.3f}, {size} components, {seconds:.1f} s", flush=True)
    return {"density": density, "components": size, "cpu": seconds, "family": family_of(model)}


def fitted(parts: list[Split], settings: dict) -> dict:
    """Held-out densities of BHMC on every split, means of the rest."""
    fits = [fitted_one(one, seed, settings) for seed, one in enumerate(parts)]
    families = Counter(one["family"] for one in fits)
    family = families.most_common(1)[0][0]
    return {
        "density": [one["density"] for one in fits],
        **{key: float(np.mean([one[key] for one in fits])) for key in ("components", "cpu")},
        "family": family,
        "families": {" ".join(key): count for key, count in families.items()},
        "structure": structure_of(family),
    }


def family_of(model: BHMC) -> tuple[str, str]:
    """(class, covariance) of the likelihood that was fitted."""
    likelihood = model.likelihood_
    return type(likelihood).__name__, str(getattr(likelihood, "covariance", "diagonal"))


def structure_of(family: tuple[str, str]) -> str:
    """The covariances of scikit-learn's mixture that are the family's, or the nearest to them."""
    name, covariance = family
    if name == "FullGaussian":
        return "full"
    return {"spherical": "spherical", "full": "tied"}.get(covariance, "diag")


def judge(title: str, found: dict, beside: dict[str, list[float]]) -> list[Check]:
    """A mean, and others that it must reach."""
    value = [float(np.mean(found["density"]))]
    return [
        Check(f"{title} v {name}", value, [float(np.mean(density))], digits=3)
        for name, density in beside.items()
    ]


def mixtures(name: str, parts: list[Split]) -> list[dict]:
    """The best mixture of every structure."""
    rows = []
    for structure in STRUCTURES:
        best = best_mixture(parts, structure)
        method = f"mixture of {best['size']}, {structure}"
        rows.append({"data": name, "method": method, "structure": structure, **best})
        print(_line(rows[-1]), flush=True)
    return rows


def run(name: str, n_splits: int, runs: list[dict]) -> list[dict]:
    """The lines of one table; none where its file is absent."""
    X = numbers_of(name)
    if X is None:
        return []
    parts = splits_of(name, X, n_splits)
    rows = mixtures(name, parts)
    best, hdp = {row["structure"]: row["density"] for row in rows}, {}
    for settings in runs:
        found = fitted(parts, settings)
        method = f"{settings['transition']}, {settings['likelihood']}"
        beside = {found["structure"]: best[found["structure"]]}
        if settings["transition"] == "hdp":
            hdp[found["family"]] = found["density"]
        elif found["family"] in hdp:
            beside["hdp"] = hdp[found["family"]]
        judged = judge(f"{name}: {method}", found, beside)
        checked = {"checks": [one.as_dict() for one in judged]}
        rows.append({"data": name, "method": method, **found, **checked})
        print(_line(rows[-1]), *judged, sep="\n", flush=True)
    return rows


def _line(row: dict) -> str:
    density = row["density"]
    size = f"  (its own score {np.mean(row['score']):.3f})" if "score" in row else ""
    if "cpu" in row:
        kinds = ", ".join(f"{name} x {count}" for name, count in row["families"].items())
        size = f"  {row['components']:.0f} components, {row['cpu']:.1f} s; {kinds}"
    mean, spread = np.mean(density), np.std(density, ddof=min(1, len(density) - 1))
    return f"{row['data']:13} {row['method']:34} {mean:8.3f} +- {spread:.3f}{size}"


def runs_of(options: dict) -> list[dict]:
    """Settings of every transition and likelihood asked for; "hdp" first, to compare with it."""
    transitions = sorted(options.pop("transition"), key=lambda name: name != "hdp")
    likelihoods = options.pop("likelihood")
    return [
        {"transition": transition, "likelihood": likelihood, **options}
        for transition, likelihood in itertools.product(transitions, likelihoods)
    ]


def main(arguments: list[str] | None = None) -> None:
    """Fit all that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="*", metavar="DATA", help=", ".join(NAMES))
    parser.add_argument("--splits", type=int, default=5, help="default: 5")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--transition", nargs="+", default=["hdp"], help="default: hdp")
    parser.add_argument("--likelihood", nargs="+", default=["auto"], help="default: auto")
    add_settings(parser, but=("transition", "likelihood"))
    options = vars(parser.parse_args(arguments))
    names, n_splits, file = (options.pop(key) for key in ("data", "splits", "json"))
    runs = runs_of(options)
    warmup()
    write(file, [row for name in names or NAMES for row in run(name, n_splits, runs)])


if __name__ == "__main__":
    main()
