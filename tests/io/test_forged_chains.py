"""No forged number of a checkpoint reaches a kernel: every part of a captured chain is checked."""

import copy
import re
import shutil

import numpy as np
import pytest
from studies.same_draws import data

from bhmc import BHMC
from bhmc._io.archive import read, write
from bhmc.model.checks import check_state
from bhmc.rows.local import LocalRows
from tests.io import forging
from tests.io.saving_values import small_state
from tests.properties.cases import short_chain, transition_of

# Parts where another number is as good: counters, and addresses that no kernel follows.
FREE = {("workspace", "events"), ("passes",), ("learns",)}


@pytest.fixture(scope="module", params=forging.KINDS, ids="-".join)
def chain(request):
    return forging.captured(*request.param)


def put(number):
    """A change of the first entry of an array, or of a number."""

    def change(part):
        if not np.size(part):
            return None
        if not isinstance(part, np.ndarray):
            return number
        with np.errstate(invalid="ignore"):
            part.flat[0] = np.array(number).astype(part.dtype)
        return None

    return change


CHANGES = {
    "NaN": put(np.nan),
    "infinity": put(np.inf),
    "a huge number": put(2**40),
    "a negative number": put(-7),
    "fewer rows": lambda part: part[:-1] if np.ndim(part) else None,
    "more rows": lambda part: np.concatenate([part, part]) if np.ndim(part) else None,
    "narrower": lambda part: part[:, :-1] if np.ndim(part) == 2 else None,
    "text": lambda part: "text",
    "another type": lambda part: part.astype("complex128") if np.ndim(part) else 1j,
    "nothing": lambda part: [],
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_part_of_a_capture_is_looked_at(chain, change):
    """Refused, or changed nowhere that matters; what is taken makes a sweep without an error."""
    for path in forging.leaves_of(chain.value):
        if path in FREE and change not in ("text", "nothing"):
            continue
        forged = chain.forged(path, CHANGES[change])
        if same(forged, chain.value) or is_finite(forged, path, change):
            continue
        assert is_refused(chain, forged), f"{change} in {path} was taken"


def is_refused(chain, forged) -> bool:
    try:
        chain.resume(forged)
    except ValueError as error:
        return re.fullmatch(r"the checkpoint is not valid: .*\.", str(error)) is not None
    return False


def same(one, other) -> bool:
    if isinstance(one, dict):
        return all(same(one[name], other[name]) for name in one)
    if type(one) is not type(other):
        return False
    return np.array_equal(one, other) and np.shape(one) == np.shape(other)


def is_finite(forged, path, change) -> bool:
    """A finite number among numbers that may be any, and a concentration above 0."""
    free = {"theta", "natural", "sums", "location", "origin", "shared"}
    if change == "a huge number":
        return path[-1] in free | {"variance"} or path[0] == "hyper"
    return change == "a negative number" and path[-1] in free


def test_a_part_that_is_missing(chain):
    for path in forging.leaves_of(chain.value):
        forged = chain.forged(path[:-1], lambda part: None) if path[:-1] else dict(chain.value)
        inner = forged
        for name in path[:-1]:
            inner = inner[name]
        del inner[path[-1]]
        assert is_refused(chain, forged)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "1", True])
@pytest.mark.parametrize("name", ["alpha", "gamma0", "gamma"])
def test_concentrations_are_positive_numbers(chain, name, value):
    """Infinity and 0 kept kernels busy for ever."""
    forged = chain.forged(("hyper", name), lambda old: value)
    with pytest.raises(ValueError, match=f"{name} must be a finite number above 0"):
        chain.resume(forged)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, "1"])
@pytest.mark.parametrize("name", ["alpha", "gamma0", "gamma"])
def test_concentrations_of_a_state(name, value):
    state = small_state()
    state = state.with_params(hyper=state.hyper._replace(**{name: value}))
    with pytest.raises(ValueError, match=f"state is not valid: {name} must be a finite number"):
        check_state(state)


def test_a_cycle_of_nodes():
    """Every node has one place, and yet no list ends: a walk would go round for ever."""
    chain = forging.captured("hdp", "gibbs")
    forged = chain.forged(("passes",), lambda passes: None)
    ws = forged["workspace"]
    brothers = np.flatnonzero(ws["level"] == 2)[:2]
    parent, first, following = ws["parent"], ws["first_child"], ws["next_sibling"]
    for one in brothers:  # out of the lists where they are
        following[following == one] = following[one]
        first[first == one] = following[one]
    following[brothers] = brothers[::-1]
    parent[brothers] = parent[brothers[0]]
    with pytest.raises(ValueError, match="the checkpoint is not valid: "):
        chain.resume(forged)


# ---- Whole files ----

X = np.repeat([-3.0, 3.0], 6)[:, None] + np.linspace(0, 1, 12)[:, None]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folder of a checkpoint of each transition."""
    folder = tmp_path_factory.mktemp("chains")
    for transition in ("hdp", "diffused"):
        fit(folder, transition)
    return folder


def fit(folder, transition, n_levels=2, n_draws=4, rows=X):
    settings = {"n_warmup": 3, "n_draws": n_draws, "n_chains": 1, "random_state": 0}
    model = BHMC(transition=transition, n_levels=n_levels, **settings)
    return model.set_params(checkpoint=folder / transition, likelihood="shared_gaussian").fit(rows)


def forge(saved, tmp_path, transition, change):
    """A file in which something is changed."""
    name = f"{transition}.0"
    write(tmp_path / name, "checkpoint", change(read(saved / name, "checkpoint")))


TRANSITIONS = pytest.mark.parametrize("transition", ["hdp", "diffused"])


@TRANSITIONS
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("made", -1),
        ("made", 2.5),
        ("made", None),
        ("thin", 0),
        ("n_warmup", "3"),
        ("rng", 3),
        ("recorder", {}),
        ("recorder", None),
    ],
)
def test_parts_of_a_checkpoint(transition, name, value, saved, tmp_path):
    forge(saved, tmp_path, transition, lambda values: values | {name: value})
    with pytest.raises(ValueError, match="cannot be read: a part of its chain is missing or of"):
        fit(tmp_path, transition, n_draws=8)


@TRANSITIONS
@pytest.mark.parametrize("value", [1, "text", {"rng": 1}, {"fit": 3}])
def test_what_is_no_checkpoint_of_a_chain(transition, value, saved, tmp_path):
    forge(saved, tmp_path, transition, lambda values: value)
    with pytest.raises(ValueError, match="is no checkpoint of a chain: name another one"):
        fit(tmp_path, transition, n_draws=8)


@TRANSITIONS
def test_a_chain_of_other_rows_or_levels(transition, saved, tmp_path):
    """Its file says that the fit is the same; a state with fewer rows than the data crashed."""
    said = read(saved / f"{transition}.0", "checkpoint")["fit"]
    for other in ({"rows": X[:-2]}, {"n_levels": 3}):
        fit(tmp_path, transition, **other)
        forge(tmp_path, tmp_path, transition, lambda values: values | {"fit": said})
        with pytest.raises(ValueError, match="the checkpoint is not valid: "):
            fit(tmp_path, transition, n_draws=8)
        (tmp_path / f"{transition}.0").unlink()


@TRANSITIONS
def test_draws_of_other_rows(transition, saved, tmp_path):
    said = read(saved / f"{transition}.0", "checkpoint")
    fit(tmp_path, transition, rows=X[:-2])
    others = read(tmp_path / f"{transition}.0", "checkpoint")["recorder"]
    write(tmp_path / f"{transition}.0", "checkpoint", said | {"recorder": others})
    with pytest.raises(ValueError, match="a draw is of other rows or levels"):
        fit(tmp_path, transition, n_draws=8)


def test_a_state_of_format_1_of_other_rows(tmp_path):
    """It segfaulted: such a file has a state in place of a captured chain."""
    from tests.io.test_saving_formats import DATA, FIT, ROWS

    shutil.copy(DATA / "checkpoint-format-1.bhmc", tmp_path / "chain.0")
    values = read(tmp_path / "chain.0", "checkpoint")
    state = values["captured"]
    partly = state._replace(paths=state.paths[:-1], components=state.components[:-1])
    write(tmp_path / "chain.0", "checkpoint", values | {"captured": partly})
    with pytest.raises(ValueError, match="its state is of other rows"):
        BHMC(**FIT | {"n_draws": 7}, checkpoint=tmp_path / "chain").fit(ROWS)


@pytest.mark.parametrize("transition", ["hdp", "diffused"])
def test_sums_that_cancel_are_no_forgery(transition, tmp_path):
    """One component of centred columns: its sums are nothing but rounding errors."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    settings = {"n_warmup": 3, "n_chains": 1, "random_state": 0, "checkpoint": tmp_path / "chain"}
    settings |= {"transition": transition, "likelihood": "gaussian", "n_levels": 2}
    if transition == "diffused":
        settings["likelihood"] = "shared_gaussian"
    first = BHMC(n_draws=5, **settings).fit(X - X.mean(axis=0))
    more = BHMC(n_draws=8, **settings).fit(X - X.mean(axis=0))
    np.testing.assert_array_equal(more.draws_.log_joint[:, :5], first.draws_.log_joint)


@pytest.mark.parametrize("family", ["shared", "gaussian-scalar", "bernoulli", "multinomial"])
@pytest.mark.parametrize("by", [1e-3, -1e149, np.nan])
def test_sums_that_are_not_those_of_the_rows(family, by):
    X = data.rows_of(family)
    captured = short_chain("hdp", family, X, seed=1, sweeps=2).capture()
    rows, transition = LocalRows(data.FAMILIES[family].prepare(X)), transition_of("hdp")
    transition.resume(copy.deepcopy(captured), rows, "gibbs", np.random.default_rng(0))
    captured["sums"][captured["component"][3], 0] += by
    with pytest.raises(ValueError, match=r"^the checkpoint is not valid: .*sums "):
        transition.resume(captured, rows, "gibbs", np.random.default_rng(0))
