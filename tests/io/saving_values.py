"""Values to save, and how two of them are compared: type by type, bit by bit.

What the committed files of tests/data hold is made here too, so nothing random and nothing fitted
is in it: a later version must find exactly these values in them.
"""

import hashlib
import json
import zipfile
from dataclasses import is_dataclass, replace
from pathlib import Path

import numpy as np

from bhmc import BHMC, Hyper, State, Tree, likelihoods, priors
from bhmc._io.archive.archive import digest_comment
from bhmc._io.archive.classes import contents
from bhmc._io.archive.entries import is_fortran
from bhmc._io.archive.files import FORMAT_VERSION
from bhmc.likelihoods.adaptive_gaussian import SettledGaussian
from bhmc.model.hdp.params import hdp_state
from bhmc.posterior.draws import Draws, Mixture, Partition

GENERATORS = (np.random.Generator, np.random.RandomState, np.random.SeedSequence)


def assert_same(found, wanted, where="value"):
    """The same types, dtypes, flags and bits, to the last field."""
    assert type(found) is type(wanted), where
    if isinstance(wanted, np.ndarray):
        assert found.dtype == wanted.dtype, where
        assert found.shape == wanted.shape, where
        assert found.flags.writeable == wanted.flags.writeable, where
        assert is_fortran(found) == is_fortran(wanted), where
        if wanted.dtype.kind == "O":
            assert_same(found.ravel().tolist(), wanted.ravel().tolist(), where)
        else:
            assert found.tobytes() == wanted.tobytes(), where
    elif isinstance(wanted, GENERATORS):
        assert_same(inside(found), inside(wanted), where)
    elif is_dataclass(wanted) or hasattr(wanted, "_fields"):
        assert_same(contents(found), contents(wanted), where)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted), where
        assert list(map(type, found)) == list(map(type, wanted)), where
        for name in wanted:
            assert_same(found[name], wanted[name], f"{where}.{name}")
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted), where
        for i, (one, other) in enumerate(zip(found, wanted, strict=True)):
            assert_same(one, other, f"{where}[{i}]")
    elif isinstance(wanted, float | complex | np.number):
        assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes(), where
    else:
        assert found == wanted, where


def inside(source):
    """All that decides what a source of random numbers gives next."""
    if isinstance(source, np.random.SeedSequence):
        return source.state | {"children": source.n_children_spawned}
    if isinstance(source, np.random.RandomState):
        return source.get_state(legacy=False)
    seeds = source.bit_generator.seed_seq
    return {
        "state": source.bit_generator.state,
        "seeds": seeds if type(seeds) is np.random.SeedSequence else None,
    }


def small_tree(**more) -> Tree:
    """Five rows in a tree of two levels."""
    paths = np.array([[0, 1, 3], [0, 1, 3], [0, 1, 3], [0, 2, 4], [0, 2, 5]], dtype=np.int32)
    return Tree(
        parents=np.array([-1, 0, 0, 1, 2, 2]),
        levels=np.array([0, 1, 1, 2, 2, 2]),
        sizes=np.array([5, 3, 2, 3, 1, 1]),
        weights=np.array([[0.5, 0.25, 0.25]] * 6),
        paths=paths,
        components=np.array([0, 0, 0, 1, 1], dtype=np.int32),
        theta=np.array([[0.1, -1e300], [np.pi, 5e-324]]),
        **more,
    )


def full_tree() -> Tree:
    """The same with all that a tree may carry."""
    return small_tree(
        alpha=0.25,
        shared=np.array([1.5]),
        support=np.array([1, 0.75, 0.625, 0.75, 0.5, 0.25]),
        exact_support=np.array([1, 0.5, 0.5, 0.5, 0.25, 0.0]),
        names=np.array(["ant", "bee", "Käfer", "蜂", ""]),
        feature_names=np.array(["legs", "wings"], dtype=object),
        component_means=np.array([[6.0, 2.0], [6.0, np.nan]]),
        feature_means=np.array([6.0, 1.2]),
        feature_scales=np.array([1.0, 0.5]),
    )


def small_draws() -> Draws:
    """Two chains of three draws, four partitions and two mixtures kept, in two types of labels."""
    by_draw = np.arange(6.0).reshape(2, 3) / 7
    whole = np.arange(6).reshape(2, 3)
    leaves = [[1, 1, 2], [1, 2, 3], [1, 1, 1], [300, 1, 2]]
    parents = [[-1, 0, 0], [-1, 0, 0, 0], [-1, 0], [-1, *[0] * 300]]
    partitions = [
        Partition(
            np.array(leaf, dtype=np.uint16 if max(leaf) > 255 else np.uint8),
            np.array([0, 1, 0], dtype=np.uint8),
            np.array(up, dtype=np.int32),
        )
        for leaf, up in zip(leaves, parents, strict=True)
    ]
    mixtures = [
        Mixture(np.full(k + 1, 1 / (k + 1)), np.arange(2.0 * k).reshape(k, 2), np.ones(1))
        for k in (1, 3)
    ]
    return Draws(
        log_joint=-by_draw,
        log_likelihood=by_draw + 1,
        n_nodes=whole,
        n_components=whole + 1,
        component_entropy=by_draw / 2,
        learned={"alpha": by_draw + 2, "gamma0": by_draw + 3, "gamma": by_draw + 4},
        nodes_at=whole[:, :, None],
        entropy_at=by_draw[:, :, None],
        shared=np.ones((2, 3, 1)),
        together=whole[:, :, None] % 2 == 0,
        pairs=np.array([[0, 2]]),
        partitions=tuple(partitions),
        partition_index=np.array([[0, 0], [0, 2], [1, 0], [1, 2]]),
        mixtures=tuple(mixtures),
        mixture_index=np.array([[0, 2], [1, 2]]),
    )


def small_state() -> State:
    """Three rows in two leaves."""
    return hdp_state(
        paths=np.array([[0, 1], [0, 1], [0, 2]], dtype=np.int32),
        components=np.array([0, 1, 0], dtype=np.int32),
        parents=np.array([-1, 0, 0], dtype=np.int32),
        log_weights=np.log(np.full((3, 3), 1 / 3)),
        theta=np.array([[1.0], [2.0]]),
        hyper=Hyper(1.0, 0.5, 0.25),
    )


PRIORS = {
    "gamma": priors.Gamma(2, 10),
    "uniform": priors.Uniform(0, np.float32(1.5)),
    "beta": priors.Beta(0.1, 3.0),
    "inverse": priors.InverseGamma(2.0),
}

LIKELIHOODS = {
    "adaptive": likelihoods.AdaptiveGaussian("spherical", np.array([1.0, 2.0]), 3.0, 1e-9),
    "bernoulli": likelihoods.Bernoulli(0.5, [0.5, 1.0]),
    "categorical": likelihoods.Categorical(1.0, n_categories=(3, 4)),
    "free": likelihoods.FreeGaussian(shape=3.0),
    "full": likelihoods.FullGaussian(mu0=np.zeros(2), sigma0=np.eye(2)),
    "gaussian": likelihoods.Gaussian(np.array([[2.0, 1.0], [1.0, 2.0]]), 0, np.float64(4.0)),
    "learned": likelihoods.Gaussian(sigma2=priors.Uniform(0, 0.1)),
    "multinomial": likelihoods.Multinomial(0.1, n_trials=np.array([3, 4])),
    "poisson": likelihoods.Poisson(2.0, 0.5),
    "shared": likelihoods.SharedGaussian(least_variance=np.array([0.1, 0.2])),
    "settled": SettledGaussian("diagonal", np.ones(1), np.ones(1), np.ones(1), 2.0),
    "product": likelihoods.Product(
        [
            (likelihoods.Gaussian(priors.Gamma(2.0)), ["height", "weight"]),
            ("bernoulli", 2),
            (likelihoods.Categorical(n_categories=3), range(3, 5)),
        ],
        names=["height", "weight", "tall", "hair", "eyes"],
    ),
}

# Families that came after the sample files of format 3 were written.
LATER = {"shaped": likelihoods.ShapedGaussian(np.array([[2.0, 1.0], [1.0, 2.0]]), np.zeros(2))}

PLAIN = {
    "none": None,
    "truths": [True, False],
    "whole": [0, -1, 2**53, 2**53 + 1, -(2**200), 10**5000],
    "real": [0.0, -0.0, 0.1, 1e22, 5e-324, np.inf, -np.inf, np.nan],
    "text": ["", "Käfer", "蜂", "\x00", "\ud800", "a\nb", "$type"],
    "nested": [[], (), {}, [()], ([1, (2.0,)], {"a": {"b": [None]}})],
    "keys": {1: "one", "1": "text", None: 0, (1, "a"): 1, np.str_("x"): 2, 0.5: 3, False: 4},
    "dollar": {"$type": "Tree", "b": 1},
    "path": Path("runs") / "checkpoint.bhmc",
    "scalars": [
        np.float64(0.1),
        np.float32(0.1),
        np.float16(-0.0),
        np.int8(-3),
        np.uint64(2**64 - 1),
        np.bool_(True),
        np.complex128(1 - 2j),
        np.str_("é"),
        np.float64("nan"),
    ],
}


def frozen(array):
    """The array, not to be written to."""
    array.flags.writeable = False
    return array


ARRAYS = {
    "float64": np.array([0.1, np.nan, -np.inf, -0.0]),
    "float32": np.array([[0.1], [2.0]], dtype=np.float32),
    "big endian": np.arange(3, dtype=">i4"),
    "truths": np.array([True, False]),
    "complex": np.array([1j]),
    "single": np.array(3.5),
    "empty": np.empty((0, 3), dtype=np.uint16),
    "no columns": np.empty((2, 0)),
    "by columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "frozen": frozen(np.arange(3)),
    "text": np.array(["a", "Käfer", ""]),
    "bytes": np.array([b"a", b"bc"]),
    "times": np.array(["2020-01-01", "NaT"], dtype="datetime64[ns]"),
    "objects": np.array([["a", None], [1, [2.0, "b"]]], dtype=object),
    "frozen objects": frozen(np.array(["x", "y"], dtype=object)),
    "no objects": np.array([], dtype=object),
    "large": np.arange(400_000, dtype=np.float64),  # more than a chunk
    "large labels": np.arange(3_000_000) // 1_000,
    "list": [np.arange(3), np.arange(4)[::-1], np.arange(2, dtype=np.uint8), frozen(np.arange(1))],
    "matrices": (np.eye(2), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.empty((0, 2))),
    "singles": [np.array(1.0), np.array(2.0)],
    "mixed": [np.arange(3), np.eye(2), "text"],
}


def generators():
    """Sources of every kind, some way into their numbers."""
    kinds = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
    found = {name: np.random.Generator(getattr(np.random, name)(7)) for name in kinds}
    for rng in found.values():
        rng.integers(5, size=3, dtype=np.uint32)  # leaves half a word behind
    found["spawned"] = np.random.default_rng(np.random.SeedSequence([1, 2, 3]).spawn(2)[1])
    found["parent"] = np.random.default_rng(5)
    found["parent"].spawn(3)
    found["legacy"] = np.random.RandomState(3)
    found["legacy"].standard_normal()  # leaves a second number behind
    found["seeds"] = np.random.SeedSequence(2**120 + 1, spawn_key=(4, 5), pool_size=8)
    found["seeds"].spawn(2)
    return found


def tree_of_format(version) -> Tree:
    """The full tree as a file of this format has it: the soft support came with format 3."""
    return full_tree() if version > 2 else replace(full_tree(), support=None)


def everything(version=FORMAT_VERSION) -> dict:
    """A little of all that a file can hold."""
    return {
        "plain": {name: PLAIN[name] for name in ("truths", "real", "text", "keys", "scalars")},
        "numbers": [0, -1, 2**53 + 1, -(2**200)],
        "arrays": {name: value for name, value in ARRAYS.items() if "large" not in name},
        "priors": PRIORS,
        "likelihoods": LIKELIHOODS,
        "generators": generators(),
        "tree": tree_of_format(version),
        "draws": small_draws(),
        "state": small_state(),
        "hyper": Hyper(priors.Gamma(2, 10), 1.0, "learn", 4),
    }


def small_model(version=FORMAT_VERSION) -> BHMC:
    """A model as after a fit."""
    model = BHMC(
        n_levels=2,
        # In format 1 there was no such parameter, in the others its default was "hdp".
        transition="auto" if version == 1 else "hdp",
        likelihood=LIKELIHOODS["product"],
        alpha=priors.Gamma(2, 10),
        gamma0="learn",
        gamma=0.5,
        sampler="gibbs",  # the default when these files were written
        init=np.array([0, 0, 0, 1, 1]),
        n_draws=3,
        n_chains=2,
        random_state=np.random.SeedSequence(2**100),
    )
    tree = tree_of_format(version)
    model.tree_, model.draws_ = tree, small_draws()
    model.paths_, model.component_labels_ = tree.paths, tree.components
    model.labels_ = tree.labels_at(2)
    model.likelihood_ = LIKELIHOODS["product"]
    model.categories_ = {"hair": ["red", "black"], 4: [1, 2.5]}
    model.n_features_in_ = 5
    model.feature_names_in_ = tree.feature_names
    return model


def edited(path, edit=lambda header: None, arrays=None):
    """Write the archive again with another header; arrays by name replace entries, None drops."""
    with zipfile.ZipFile(path) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    header = json.loads(entries.pop("header.json"))
    edit(header)
    for name, data in (arrays or {}).items():
        if data is None:
            del entries[name]
            continue
        with open(path.with_suffix(".npy"), "wb") as file:
            np.save(file, data, allow_pickle=True)
        entries[name] = path.with_suffix(".npy").read_bytes()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr("header.json", json.dumps(header))
        for name, data in entries.items():
            new.writestr(name, data)
        new.comment = comment_of(json.dumps(header), header.get("arrays", {}), entries)


def comment_of(text, names, entries) -> bytes:
    """The digest of a file, as a forger would make it."""
    digest = hashlib.sha256(text.encode("ascii"))
    for name in names:
        digest.update(entries.get(name, b""))
    return digest_comment(digest)
