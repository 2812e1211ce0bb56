"""The functional layer: fixed names and signatures, invariants, and no side effects."""

import copy
import inspect
import itertools
import re
import typing

import numpy as np
import pytest
from benchmarks.chains import SAMPLERS
from scipy import sparse

import bhmc
from bhmc import Hyper, Info, State
from bhmc.likelihoods import Gaussian
from bhmc.model.checks import check_state
from bhmc.model.hdp.params import hdp_state
from tests.mutants.mutants import build

FORMS = [(sampler, None) for sampler in SAMPLERS] + [("gibbs", 4), ("mh", 4)]
every_form = pytest.mark.parametrize(("sampler", "n_components"), FORMS)
PLAIN = Hyper(1.0, 1.0, 1.0)
EXTREME = [
    Hyper(alpha, gamma0, gamma)
    for alpha, gamma0, gamma in itertools.product((1e-3, 1e3), (1e-3, 50.0), (1e-4, 100.0))
]


def prior_draw(seed=0, n=12, n_levels=2, hyper=PLAIN, likelihood="gaussian", **changes):
    rng = np.random.default_rng(seed)
    return bhmc.sample_prior(
        n, n_levels=n_levels, hyper=hyper, likelihood=likelihood, rng=rng, **changes
    )


def swept(state, X, seed=0, sampler="gibbs", likelihood="gaussian"):
    rng = np.random.default_rng(seed)
    return bhmc.sweep(state, X, hyper=state.hyper, likelihood=likelihood, sampler=sampler, rng=rng)


def assert_same_state(one, other):
    names = ("paths", "components", "parents", "theta", "shared", "log_weights", "hyper")
    assert {*names, "params"} - {"log_weights", "hyper"} == set(State._fields)
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


# ---- Names and signatures ----


def signature(function):
    """[(name, kind, default)] with kinds "plain" and "keyword"."""
    kinds = {
        inspect.Parameter.POSITIONAL_OR_KEYWORD: "plain",
        inspect.Parameter.KEYWORD_ONLY: "keyword",
    }
    return [
        (p.name, kinds[p.kind], p.default) for p in inspect.signature(function).parameters.values()
    ]


NO = inspect.Parameter.empty


def test_signatures():
    assert signature(bhmc.sample_prior) == [
        ("n", "plain", NO),
        ("n_levels", "keyword", NO),
        ("hyper", "keyword", NO),
        ("likelihood", "keyword", NO),
        ("rng", "keyword", NO),
        ("n_features", "keyword", 1),
        ("n_components", "keyword", None),
        ("transition", "keyword", "hdp"),
    ]
    assert signature(bhmc.sample_data) == [
        ("state", "plain", NO),
        ("likelihood", "keyword", NO),
        ("rng", "keyword", NO),
    ]
    assert signature(bhmc.sweep) == [
        ("state", "plain", NO),
        ("X", "plain", NO),
        ("hyper", "keyword", NO),
        ("likelihood", "keyword", NO),
        ("sampler", "keyword", NO),
        ("rng", "keyword", NO),
        ("transition", "keyword", "hdp"),
        ("moves", "keyword", ()),
    ]
    assert signature(bhmc.log_joint) == [
        ("state", "plain", NO),
        ("X", "plain", NO),
        ("hyper", "keyword", NO),
        ("likelihood", "keyword", NO),
    ]
    assert signature(Hyper) == [
        ("alpha", "plain", NO),
        ("gamma0", "plain", NO),
        ("gamma", "plain", NO),
        ("n_components", "plain", None),
    ]
    assert [name for name, _, _ in signature(Gaussian)] == ["sigma2", "mu0", "sigma0"]
    assert [default for _, _, default in signature(Gaussian)] == [1.0, 0.0, 1.0]


def test_public_names():
    """What `bhmc` shows once all was asked for is `__all__`, apart from its own modules."""
    for name in bhmc.__all__:
        getattr(bhmc, name)
    shown = {
        name
        for name, value in vars(bhmc).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    modules = {name for name in bhmc.__all__ if inspect.ismodule(getattr(bhmc, name))}
    assert shown | modules | {"__version__"} == set(bhmc.__all__)
    assert len(set(bhmc.__all__)) == len(bhmc.__all__)
    assert set(bhmc.__all__) <= set(dir(bhmc))
    for name in ("BHMC", "Hyper", "State", "sample_prior", "sample_data", "sweep", "log_joint"):
        assert name in bhmc.__all__


def test_public_functions_say_what_they_do():
    for name in bhmc.__all__:
        thing = getattr(bhmc, name)
        assert name == "__version__" or (thing.__doc__ and len(thing.__doc__) > 20), name


# ---- State ----


@pytest.mark.parametrize("n_components", [None, 4])
def test_fields_of_a_state(n_components):
    for seed in range(8):
        state, X = prior_draw(seed, n=15, n_levels=3, n_features=2, n_components=n_components)
        k, n_nodes = state.n_components, len(state.parents)
        assert X.shape == (15, 2)
        assert state.paths.shape == (15, 4)
        assert state.n_levels == 3
        assert state.components.shape == (15,)
        assert state.parents.shape == (n_nodes,)
        assert state.log_weights.shape == state.weights.shape == (n_nodes, k + 1)
        assert state.theta.shape == (k, 2)
        assert state.hyper == PLAIN._replace(n_components=n_components)
        np.testing.assert_allclose(state.weights.sum(axis=1), 1)
        np.testing.assert_array_equal(state.weights, np.exp(state.log_weights))
        np.testing.assert_array_equal(np.unique(state.paths), np.arange(n_nodes))
        np.testing.assert_array_equal(np.bincount(state.paths.ravel()), state.sizes)
        np.testing.assert_array_equal(state.levels[1:], state.levels[state.parents[1:]] + 1)
        assert state.sizes[0] == 15
        if n_components is None:
            np.testing.assert_array_equal(np.unique(state.components), np.arange(k))
            assert (state.weights[:, -1] >= 0).all()
        else:
            assert k == n_components
            assert (state.weights[:, -1] == 0).all()  # the finite form has no remainder
        check_state(state)


def test_the_finite_form_may_be_named_in_either_place():
    by_argument, X = prior_draw(3, n_components=4)
    by_hyper, Y = prior_draw(3, hyper=PLAIN._replace(n_components=4))
    both, Z = prior_draw(3, hyper=PLAIN._replace(n_components=4), n_components=4)
    for state, data in ((by_hyper, Y), (both, Z)):
        assert_same_state(by_argument, state)
        np.testing.assert_array_equal(X, data)
    assert by_argument.n_components == 4


@every_form
def test_types_stay_the_same_after_a_sweep(sampler, n_components):
    state, X = prior_draw(n_components=n_components)
    new, info = swept(state, X, sampler=sampler)
    assert isinstance(new, State)
    assert isinstance(info, Info)
    for name in ("paths", "components", "parents", "log_weights", "theta"):
        before, after = getattr(state, name), getattr(new, name)
        assert after.dtype == before.dtype, name
        assert after.ndim == before.ndim, name
    assert new.hyper == state.hyper
    assert all(type(count) is int and count >= 0 for count in info)


def test_smallest_cases():
    for n_levels, n_components in ((1, None), (1, 1), (4, None)):
        state, X = prior_draw(n=1, n_levels=n_levels, n_components=n_components)
        assert state.paths.tolist() == [list(range(n_levels + 1))]
        for sampler in SAMPLERS if n_components is None else ("gibbs", "mh"):
            new, _ = swept(state, X, sampler=sampler)
            check_state(new)
            assert new.paths.tolist() == state.paths.tolist()


# ---- Sweeps ----


def arrays_of(state):
    return [x for x in (*state, *state.params) if isinstance(x, np.ndarray) and x.size]


@every_form
def test_a_sweep_leaves_its_arguments_alone(sampler, n_components):
    state, X = prior_draw(n_components=n_components)
    kept, kept_X = copy.deepcopy(state), X.copy()
    for array in (*arrays_of(state), X):
        array.flags.writeable = False  # and does not need to write to them
    new, _ = swept(state, X, sampler=sampler)
    assert_same_state(state, kept)
    np.testing.assert_array_equal(X, kept_X)
    for old, fresh in itertools.product(arrays_of(state), arrays_of(new)):
        assert not np.shares_memory(old, fresh)


@every_form
def test_the_same_generator_gives_the_same_sweep(sampler, n_components):
    state, X = prior_draw(n_components=n_components)
    one, one_info = swept(state, X, 5, sampler)
    two, two_info = swept(state, X, 5, sampler)
    other, _ = swept(state, X, 6, sampler)
    assert_same_state(one, two)
    assert one_info == two_info
    assert not np.array_equal(one.theta, other.theta)


def test_all_randomness_comes_from_the_generator():
    """Draws continue where the last call left the generator, and the global one is not used."""
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    rng = np.random.default_rng(0)
    state, X = prior_draw()
    settings = {"hyper": PLAIN, "likelihood": "gaussian", "sampler": "gibbs", "rng": rng}
    one, _ = bhmc.sweep(state, X, **settings)
    two, _ = bhmc.sweep(state, X, **settings)
    assert not np.array_equal(one.theta, two.theta)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@every_form
def test_everything_is_redrawn(sampler, n_components):
    """Within some sweeps every kind of unknown has changed."""
    state, X = prior_draw(n=20, n_components=n_components)
    seen = dict.fromkeys(("paths", "components", "weights", "theta"), False)
    totals = np.zeros(5, dtype=int)
    for seed in range(200 if sampler == "blocked" else 10):  # of its rows only a few begin anything
        new, info = swept(state, X, seed, sampler)
        totals += info
        for name in seen:
            seen[name] |= not np.array_equal(getattr(new, name), getattr(state, name))
        state = new
    assert all(seen.values()), seen
    assert totals[0] > 0
    assert totals[1] > 0
    assert (totals[2] > 0) == (totals[3] > 0) == (n_components is None)


@every_form
def test_counts_of_births_and_deaths_add_up(sampler, n_components):
    state, X = prior_draw(n=20, n_components=n_components)
    for seed in range(10):
        new, info = swept(state, X, seed, sampler)
        grown = len(new.parents) - len(state.parents)
        assert grown == info.nodes_born - info.nodes_died
        assert new.n_components - state.n_components == info.components_born - info.components_died
        assert 0 <= info.paths_accepted <= 20
        if sampler == "gibbs":
            assert info.paths_accepted == 20
        state = new


@every_form
@pytest.mark.parametrize("hyper", EXTREME, ids=str)
def test_extreme_concentrations(sampler, n_components, hyper):
    """No NaN, no warning, every invariant kept, finite densities."""
    if n_components:
        hyper = hyper._replace(n_components=n_components)
    for n_levels, n_features in ((1, 1), (4, 3)):
        state, X = prior_draw(1, n=15, n_levels=n_levels, hyper=hyper, n_features=n_features)
        check_state(state)
        for seed in range(6):
            value = bhmc.log_joint(state, X, hyper=hyper, likelihood="gaussian")
            assert not np.isnan(value)
            assert value > -np.inf
            state, _ = swept(state, X, seed, sampler)
            check_state(state)
            assert not np.isnan(state.log_weights).any()
            assert (state.log_weights <= 1e-9).all()
            # A datum's component has weight at its leaf, and so at every node above.
            at = state.log_weights[state.paths, state.components[:, None]]
            assert (at[:, -1] > -np.inf).all()


@every_form
def test_far_data(sampler, n_components):
    """Data that the prior calls impossible: likelihoods of exp(-1e9) and less."""
    state, X = prior_draw(n=15, n_features=2, n_components=n_components)
    X = X + np.random.default_rng(0).choice([-1e5, 0.0, 1e5], size=X.shape)
    for seed in range(10):
        state, _ = swept(state, X, seed, sampler)
        check_state(state)
    assert np.isfinite(bhmc.log_joint(state, X, hyper=state.hyper, likelihood="gaussian"))


@every_form
def test_random_settings(sampler, n_components):
    """Random concentrations, depths and sizes over six orders of magnitude."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        hyper = Hyper(*10.0 ** rng.uniform(-3, 3, size=2), 10.0 ** rng.uniform(-4, 2), n_components)
        hyper = hyper._replace(gamma0=min(hyper.gamma0, 50.0))
        n, n_levels = int(rng.integers(1, 25)), int(rng.integers(1, 6))
        state, X = prior_draw(seed, n=n, n_levels=n_levels, hyper=hyper)
        for step in range(4):
            state, _ = swept(state, X, step, sampler)
            check_state(state)
        assert np.isfinite(bhmc.log_joint(state, X, hyper=hyper, likelihood="gaussian"))


# ---- Data and densities ----


@pytest.mark.parametrize("n_features", [1, 3])
def test_sample_data(n_features):
    state, _ = prior_draw(hyper=PLAIN._replace(gamma0=20.0), n_features=n_features)
    assert state.n_components > 3
    rng = np.random.default_rng(0)
    one = bhmc.sample_data(state, likelihood="gaussian", rng=rng)
    two = bhmc.sample_data(state, likelihood="gaussian", rng=rng)
    assert one.shape == two.shape == (12, n_features)
    assert one.dtype == np.float64
    assert not np.array_equal(one, two)
    exact = bhmc.sample_data(state, likelihood=Gaussian(sigma2=1e-20), rng=rng)
    np.testing.assert_allclose(exact, state.theta[state.components], atol=1e-8)


def test_log_joint_takes_its_hyper_from_the_argument():
    state, X = prior_draw()
    values = {
        bhmc.log_joint(state, X, hyper=hyper, likelihood="gaussian")
        for hyper in (PLAIN, *(PLAIN._replace(**{name: 2.0}) for name in Hyper._fields[:3]))
    }
    assert len(values) == 4
    other = state.with_params(hyper=Hyper(9.0, 9.0, 9.0))
    same = bhmc.log_joint(other, X, hyper=PLAIN, likelihood="gaussian")
    assert same == bhmc.log_joint(state, X, hyper=PLAIN, likelihood="gaussian")


def test_log_joint_is_a_plain_number():
    state, X = prior_draw()
    assert type(bhmc.log_joint(state, X, hyper=PLAIN, likelihood="gaussian")) is float


# ---- Invariants ----


def sound_state():
    """Five data, two levels, components 0 and 1; every number chosen by hand."""
    return hdp_state(
        paths=np.array([[0, 1, 3], [0, 1, 3], [0, 1, 4], [0, 2, 5], [0, 2, 5]]),
        components=np.array([0, 0, 1, 1, 0]),
        parents=np.array([-1, 0, 0, 1, 1, 2]),
        log_weights=np.log(np.tile([0.5, 0.3, 0.2], (6, 1))),
        theta=np.array([[0.0], [1.0]]),
        hyper=PLAIN,
    )


def finite_state():
    state = sound_state()
    log_weights = np.log(np.tile([0.6, 0.4, 1.0], (6, 1)))
    log_weights[:, -1] = -np.inf
    return state.with_params(log_weights=log_weights, hyper=PLAIN._replace(n_components=2))


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


S = sound_state()
F = finite_state()


def with_hyper(**changes):
    return S.with_params(hyper=S.hyper._replace(**changes))


BROKEN = [
    (S._replace(paths=S.paths[:, 0]), "paths must be (n, n_levels + 1), n_levels >= 1"),
    (S._replace(paths=S.paths[:, :1]), "paths must be (n, n_levels + 1), n_levels >= 1"),
    (S._replace(components=S.components[:-1]), "components must hold one label per path"),
    (
        S.with_params(log_weights=S.log_weights[:-1]),
        "log_weights must hold one row per node",
    ),
    (S._replace(theta=S.theta[:1]), "theta must hold one row per component"),
    (S._replace(theta=S.theta[:, 0]), "theta must be a matrix of numbers"),
    (
        S.with_params(log_weights=S.log_weights.tolist()),
        "log_weights must be a matrix of numbers",
    ),
    (S._replace(paths=S.paths.astype(float)), "paths must be an array of whole numbers"),
    (S._replace(components=S.components.tolist()), "components must be an array of whole numbers"),
    (S._replace(paths=changed(S.paths, (0, 2), 6)), "a path names a node that does not exist"),
    (S._replace(paths=changed(S.paths, (0, 2), -1)), "a path names a node that does not exist"),
    (S._replace(paths=changed(S.paths, (0, 0), 1)), "every path must start at the root, node 0"),
    (S._replace(parents=changed(S.parents, 0, 0)), "the root's parent must be -1"),
    (S._replace(parents=changed(S.parents, 1, 3)), "a parent must come before its children"),
    (S._replace(parents=changed(S.parents, 2, 2)), "a parent must come before its children"),
    (S._replace(paths=changed(S.paths, (0, 2), 5)), "a path must follow the parents"),
    (S._replace(parents=changed(S.parents, 4, 2)), "a path must follow the parents"),
    (S._replace(parents=changed(S.parents, 4, -1)), "a path must follow the parents"),
    (S._replace(paths=changed(S.paths, (2, 2), 3)), "every node must hold at least one datum"),
    (S._replace(components=changed(S.components, 0, 2)), "a component label is outside 0..K-1"),
    (S._replace(components=changed(S.components, 0, -1)), "a component label is outside 0..K-1"),
    (S._replace(components=np.zeros(5, int)), "every component must hold at least one datum"),
    (
        F.with_params(hyper=PLAIN._replace(n_components=3)),
        "the finite form must keep all its components",
    ),
    (S.with_params(hyper=F.hyper), "the finite form has no remainder"),
    (
        S.with_params(log_weights=changed(S.log_weights, (2, 0), np.nan)),
        "log_weights holds NaN",
    ),
    (
        S.with_params(log_weights=S.log_weights + 1e-6),
        "a node's weights must sum to 1",
    ),
    (
        S.with_params(log_weights=changed(S.log_weights, (2, 0), 0)),
        "a node's weights must sum to 1",
    ),
    (S._replace(theta=changed(S.theta, (0, 0), np.nan)), "theta must be finite"),
    (S._replace(theta=changed(S.theta, (1, 0), np.inf)), "theta must be finite"),
    (S._replace(shared=np.array([1.0, np.nan])), "shared must be a vector of finite numbers"),
    (S._replace(shared=np.zeros((2, 2))), "shared must be a vector of finite numbers"),
    (S._replace(shared=[1.0]), "shared must be a vector of finite numbers"),
]

# Of these callers hear before, as of a parameter.
BROKEN_HYPER = [
    (with_hyper(gamma=0.0), "gamma must be a finite number above 0"),
    (with_hyper(gamma0=np.inf), "gamma0 must be a finite number above 0"),
    (with_hyper(alpha=np.nan), "alpha must be a finite number above 0"),
]


@pytest.mark.parametrize(("state", "sentence"), BROKEN_HYPER)
def test_concentrations_that_are_none(state, sentence):
    with pytest.raises(ValueError, match=f"state is not valid.*{sentence}"):
        check_state(state)


@pytest.mark.parametrize(("state", "sentence"), BROKEN, ids=[sentence for _, sentence in BROKEN])
def test_a_broken_invariant_is_named(state, sentence):
    with pytest.raises(ValueError, match="state is not valid") as caught:
        check_state(state)
    assert sentence in str(caught.value)
    # Whoever hands such a state in hears the same.
    X = np.zeros((len(state.paths), 1))
    calls = [lambda: bhmc.log_joint(state, X, hyper=state.hyper, likelihood="gaussian")]
    calls.append(lambda: swept(state, X))
    for call in calls:
        with pytest.raises(ValueError, match="state is not valid") as again:
            call()
        assert str(again.value) == str(caught.value)


def test_sound_states_pass():
    check_state(sound_state())
    check_state(finite_state())
    check_state(F._replace(components=np.zeros(5, int)))  # the finite form keeps empty ones


def test_every_invariant_has_a_broken_state():
    """A new sentence in `check_state` must be seen above."""
    from bhmc.model import checks

    source = inspect.getsource(checks._invariants)
    strings = re.findall(r'"([^"]+)"', source.split('"""')[2])
    sentences = {text.removeprefix("{name} ") for text in strings if " " in text}
    assert len(sentences) >= 15
    for sentence in sentences:
        assert any(broken.endswith(sentence) for _, broken in BROKEN + BROKEN_HYPER), sentence


def test_annotations_can_be_resolved():
    """py.typed promises types; they must be importable ones."""
    for function in (bhmc.sample_prior, bhmc.sample_data, bhmc.sweep, bhmc.log_joint):
        hints = typing.get_type_hints(function)
        assert "return" in hints


# ---- Draws whose shapes vanish ----


def test_a_break_whose_shapes_vanish():
    """u is 1 with probability a / (a + b), else 0, where both shapes vanish; 0 of nothing."""
    rng, kernels = np.random.default_rng(0), build(())
    hits, n_draws = 0, 4000
    for _ in range(n_draws):
        halves = kernels.beta_draw(0.0, np.log(0.3) - 1000, 0.0, np.log(0.7) - 1000, rng)
        assert sorted(halves) == [-np.inf, 0.0]
        hits += halves[0] == 0
    z = (hits - 0.3 * n_draws) / np.sqrt(n_draws * 0.3 * 0.7)
    assert abs(z) < 4
    assert kernels.beta_draw(0.0, -np.inf, 0.0, -np.inf, rng) == (-np.inf, -np.inf)


@every_form
def test_vanishing_concentrations(sampler, n_components):
    """The smallest doubles there are: every shape of a node's weights underflows."""
    state, X = prior_draw(n=15, n_levels=3, n_components=n_components)
    for tiny in (1e-300, 1e-308):
        state = state.with_params(hyper=Hyper(tiny, tiny, tiny, n_components))
        for seed in range(5):
            state, _ = swept(state, X, seed, sampler)
            check_state(state)


@pytest.mark.parametrize("sampler", ["gibbs", "mh"])
def test_a_finite_state_keeps_its_form_without_being_told(sampler):
    """`sample_prior(n_components=K)` makes a finite state; the same `Hyper` serves to sweep it."""
    hyper = Hyper(0.7, 1.1, 0.6)
    settings = {"hyper": hyper, "likelihood": Gaussian()}
    state, X = bhmc.sample_prior(
        5, n_levels=2, n_components=3, rng=np.random.default_rng(0), **settings
    )
    state, _ = bhmc.sweep(state, X, sampler=sampler, rng=np.random.default_rng(1), **settings)
    assert state.hyper.n_components == state.n_components == 3
    told = bhmc.log_joint(state, X, hyper=state.hyper, likelihood=Gaussian())
    assert bhmc.log_joint(state, X, **settings) == told


def hidden(X):
    X = X.copy()
    X[1, 0] = X[3, 1] = np.nan
    return X


@pytest.mark.parametrize(
    ("likelihood", "seen"),
    [
        (bhmc.likelihoods.Bernoulli(), hidden),
        (bhmc.likelihoods.AdaptiveGaussian(), hidden),
        (bhmc.likelihoods.Multinomial(n_trials=5), sparse.csr_array),
    ],
    ids=["bernoulli", "gaussian", "multinomial"],
)
def test_missing_and_sparse_data_where_the_family_allows_them(likelihood, seen):
    """The functional layer takes what `BHMC` takes, and gives the family's own numbers."""
    # The finite form: in the infinite one log weights may dwarf the likelihoods.
    rng, hyper = np.random.default_rng(0), bhmc.Hyper(0.6, 3.0, 5.0, 3)
    state, X = bhmc.sample_prior(
        8, n_levels=2, hyper=hyper, likelihood=likelihood, rng=rng, n_features=3
    )
    how = {"hyper": hyper, "likelihood": likelihood}
    whole, part = (bhmc.log_joint(state, data, **how) for data in (X, seen(X)))
    own = [
        likelihood.prepare(data).at(state.shared).log_table(state.theta)[range(8), state.components]
        for data in (X, seen(X))
    ]
    assert part - whole == pytest.approx(own[1].sum() - own[0].sum(), abs=1e-9)
    assert (part == pytest.approx(whole)) == sparse.issparse(seen(X))
    new, _ = bhmc.sweep(state, seen(X), sampler="gibbs", rng=rng, **how)
    assert np.isfinite(bhmc.log_joint(new, seen(X), **how))


def test_missing_and_sparse_data_where_it_does_not():
    rng, hyper = np.random.default_rng(0), bhmc.Hyper(0.6, 1.2, 0.8)
    state, X = bhmc.sample_prior(
        8, n_levels=2, hyper=hyper, likelihood="gaussian", rng=rng, n_features=3
    )
    how = {"hyper": hyper, "likelihood": "gaussian"}
    for data, error, words in (
        (hidden(X), ValueError, "^X has NaN"),
        (sparse.csr_array(X), TypeError, "^X is sparse, and this likelihood needs a dense array"),
    ):
        with pytest.raises(error, match=words):
            bhmc.log_joint(state, data, **how)
        with pytest.raises(error, match=words):
            bhmc.sweep(state, data, sampler="gibbs", rng=rng, **how)
