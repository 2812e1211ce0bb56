"""`search`: the rule of its scores, its seeds, its file, its time, and what it refuses."""

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

import bhmc
from bhmc import BHMC
from bhmc._search import rounds as rounds_module
from bhmc._search import run as run_module
from bhmc._search.book import Book
from bhmc._search.rounds import DEFAULTS, Plan, Score, score
from bhmc._search.settings import check_priors, draw_settings
from bhmc.likelihoods import AdaptiveGaussian, Bernoulli, FullGaussian
from bhmc.priors import Gamma
from tests.exact.alarm import Z_LIMIT, rng_for, z_of

QUICK = {"warmup": 2, "draws": 2, "progress": False}
# Shallow trees, so that rounds are quick.
SHALLOW = {"n_levels": [1, 2]}


def data(n=30, seed=0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 6.0 * rng.integers(0, 2, n)[:, None]


def plan_of(X, likelihood="gaussian", **changes) -> Plan:
    kind = type(bhmc.likelihoods.kind_of(likelihood))
    priors = check_priors(SHALLOW, kind, X.shape[1])
    return Plan(X, likelihood, priors, len(X), 2, 2, 5, ())._replace(**changes)


@pytest.fixture
def few_splits(monkeypatch):
    monkeypatch.setattr(run_module, "_FRESH_SPLITS", range(1, 3))
    monkeypatch.setattr(run_module, "_FINALISTS", 2)


def same(one, other) -> None:
    """Two results agree in everything but the time they took."""
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), check_exact=True)
    assert one.best == other.best
    assert (one.best_score, one.default_score) == (other.best_score, other.default_score)


# ---- What is drawn ----


def settings_z(priors, d=3, size=2_000) -> float:
    """Largest |z| of drawn settings against the laws of the supplement."""
    rng = rng_for(311)
    drawn = [draw_settings(priors, rng) for _ in range(size)]
    values = {name: np.array([one[name] for one in drawn], dtype=float) for name in drawn[0]}
    laws = {
        "alpha": stats.gamma(2),
        "gamma0": stats.gamma(5),
        "gamma": stats.uniform(),
        "lam": stats.beta(5, 5),
        "nu": stats.pareto(1, loc=d),  # P(nu > d + t) = 1 / t
    }
    worst = 0.0
    for name, law in laws.items():
        for p in (0.2, 0.5, 0.8):
            below = (values[name] <= law.ppf(p)).mean()
            worst = max(worst, abs(z_of(np.array(below - p), np.sqrt(p * (1 - p) / size))))
    for levels in (4, 8, 12):  # ceil(G + 1) <= l if and only if G <= l - 1
        p = stats.gamma(4, scale=2).cdf(levels - 1)
        below = (values["n_levels"] <= levels).mean()
        worst = max(worst, abs(z_of(np.array(below - p), np.sqrt(p * (1 - p) / size))))
    assert (values["n_levels"] >= 2).all()
    return float(worst)


def test_the_supplements_priors():
    assert settings_z(check_priors(None, FullGaussian, 3)) < Z_LIMIT


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": Gamma(2, 2)},
        {"gamma0": Gamma(5, 2)},
        {"n_levels": lambda rng: int(np.ceil(rng.gamma(4, 2)) + 2)},
        {"nu": lambda rng: 1 / rng.random() + 2},
    ],
)
def test_wrong_priors_are_noticed(wrong):
    assert settings_z(check_priors(wrong, FullGaussian, 3)) > Z_LIMIT


def test_numbers_of_the_families_are_searched():
    of_the_model = ["n_levels", "alpha", "gamma0", "gamma"]
    own = {Bernoulli: [], FullGaussian: ["nu", "lam"], AdaptiveGaussian: ["least_variance"]}
    for kind, numbers in own.items():
        assert list(check_priors(None, kind, 3)) == of_the_model + numbers


def test_kinds_of_priors():
    given = {"n_levels": [2, 5], "alpha": 0.5, "gamma0": "learn", "gamma": None}
    priors = check_priors(given, AdaptiveGaussian, 3)
    rng = np.random.default_rng(0)
    drawn = [draw_settings(priors, rng) for _ in range(40)]
    assert {one["n_levels"] for one in drawn} == {2, 5}
    assert all(one["alpha"] == 0.5 and one["gamma0"] == "learn" for one in drawn)
    assert all("gamma" not in one for one in drawn)


# ---- What a score is ----


def test_a_score_is_the_log_of_the_mean_density(monkeypatch):
    """Draws are averaged as densities, rows as logarithms; a known density is put in."""
    seen = []

    def known(state, family):
        seen.append(len(seen))
        return np.log(np.linspace(1, 2, family.n_rows) * (1 + 9 * seen[-1]))

    monkeypatch.setattr(rounds_module, "log_predictive", known)
    plan = plan_of(data())
    one = score(plan, 1, 0)
    expected = np.log(np.linspace(1, 2, 6)).mean() + np.log((1 + 10) / 2)
    assert one is not None
    assert one.score == pytest.approx(expected)
    assert len(seen) == plan.draws


def test_held_out_rows_are_not_fitted(monkeypatch):
    """Chain and scales see four fifths; the splits cover other rows each time."""
    X, scaled, bound = data(50), [], []
    right_scaled, right_prepare = AdaptiveGaussian.scaled_to, AdaptiveGaussian.prepare
    monkeypatch.setattr(
        AdaptiveGaussian, "scaled_to", lambda X: scaled.append(X) or right_scaled(X)
    )
    monkeypatch.setattr(
        AdaptiveGaussian, "prepare", lambda self, X: bound.append(X) or right_prepare(self, X)
    )
    plan = plan_of(X, n_subset=40)
    held = []
    for split in range(4):
        scaled.clear(), bound.clear()
        score(plan, 1, split)
        train, test = bound
        assert len(train) == 32
        assert len(test) == 8
        assert not {tuple(row) for row in train} & {tuple(row) for row in test}
        np.testing.assert_array_equal(scaled[0], train)
        held.append(frozenset(tuple(row) for row in test))
    assert len(set(held)) == 4


def test_the_defaults_are_those_of_the_estimator(monkeypatch):
    """Round 0 fits the priors that `BHMC` fits, at its depth."""
    starts, right = [], rounds_module.start_state
    monkeypatch.setattr(
        rounds_module,
        "start_state",
        lambda transition, rows, **settings: (
            starts.append((transition, settings)) or right(transition, rows, **settings)
        ),
    )
    score(plan_of(data()), DEFAULTS, 0)
    model = BHMC(transition="hdp")
    transition, settings = starts[0]
    assert settings["n_levels"] == model.n_levels
    assert transition == model._bound_transition()


# ---- What is chosen ----


def fake_scores(monkeypatch, second: dict[int, float], first: dict[int, float]):
    """Scores by table instead of by chains."""

    def fake(plan, number, split, deadline=np.inf):
        value = first[number] if split == 0 else second[number] + 0.01 * split
        return Score(number, split, value, 1.0)

    monkeypatch.setattr(run_module, "score", fake)


FIRST = {0: 0.0, 1: 5.0, 2: 3.0, 3: 2.0, 4: -1.0, 5: -2.0, 6: -3.0, 7: 9.0, 8: -9.0}


def test_second_scores_name_the_winner(monkeypatch):
    """Round 7 was lucky at first; round 8 is the best, but nobody could know."""
    second = dict.fromkeys(FIRST, 0.0) | {1: 1.0, 2: 2.0, 7: -4.0, 8: 50.0}
    fake_scores(monkeypatch, second, FIRST)
    result = bhmc.search(data(), rounds=8, random_state=0, **QUICK)
    frame = result.to_frame()
    assert set(frame.index[frame.second_score.notna()]) == {0, 1, 2, 3, 4, 7}
    assert result.best["alpha"] == frame.alpha[2]
    assert result.best_score == pytest.approx(2.045)  # the mean of 2 + 0.01 split, split 1 to 8
    assert result.default_score == pytest.approx(0.045)
    assert frame.gain[7] == pytest.approx(-4.0)
    assert result.gain_error == pytest.approx(0.0, abs=1e-9)
    assert "gain 2.000" in repr(result)


def test_the_defaults_may_win(monkeypatch):
    fake_scores(monkeypatch, dict.fromkeys(FIRST, -1.0) | {0: 0.0}, FIRST)
    result = bhmc.search(data(), rounds=8, random_state=0, **QUICK)
    assert result.best == {
        "n_levels": 3,
        "alpha": "auto",
        "gamma0": "auto",
        "gamma": "auto",
        "likelihood": "gaussian",
        "transition": "hdp",
    }
    assert result.best_score == result.default_score


@pytest.mark.usefixtures("few_splits")
@pytest.mark.parametrize("likelihood", ["auto", "full_gaussian", FullGaussian(mu0=1.0)])
def test_the_best_can_be_fitted(likelihood):
    X = data()
    result = bhmc.search(
        X, likelihood=likelihood, rounds=2, priors=SHALLOW, random_state=3, **QUICK
    )
    model = BHMC(**result.best, n_warmup=2, n_draws=2, n_chains=1).fit(X)
    if likelihood != "auto":
        row = max(result.table, key=lambda row: np.nan_to_num(row["second_score"], nan=-np.inf))
        assert row["round"] == DEFAULTS or model.likelihood_.nu == row["nu"]
    if isinstance(likelihood, FullGaussian):
        assert model.likelihood_.mu0 == 1.0


def test_numbers_of_a_family():
    """A word and a number that the units depend on go in before these are found."""
    X = np.abs(np.round(data())) + 1
    gaussian = plan_of(X).family_settings({"covariance": "spherical", "alpha": 1.0}, X)
    assert np.ndim(gaussian.scale) == 0
    gaussian.prepare(X)
    poisson = plan_of(X, "poisson").family_settings({"shape": 3.0}, X)
    np.testing.assert_allclose(poisson.shape / np.asarray(poisson.rate), X.mean(axis=0))
    bernoulli = plan_of(X > 3, "bernoulli").family_settings({"a": 0.5}, (X > 3).astype(float))
    assert bernoulli.a == 0.5


# ---- Seeds, threads, files ----


@pytest.fixture(scope="module")
def whole():
    """A search of one thread that nobody interrupted."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(run_module, "_FRESH_SPLITS", range(1, 3))
        monkeypatch.setattr(run_module, "_FINALISTS", 2)
        return bhmc.search(data(), rounds=6, priors=SHALLOW, random_state=1, **QUICK)


@pytest.mark.usefixtures("few_splits")
def test_threads_change_nothing(whole):
    same(
        bhmc.search(data(), rounds=6, priors=SHALLOW, random_state=1, n_jobs=2, **QUICK),
        whole,
    )


@pytest.mark.usefixtures("few_splits")
def test_goes_on_after_ctrl_c(whole, monkeypatch, tmp_path):
    """Ctrl-C in round 4; what is there is scored again; a second call ends as if uninterrupted."""
    right = run_module.score

    def interrupted(plan, number, split, deadline=np.inf):
        if (number, split) == (4, 0):
            raise KeyboardInterrupt
        return right(plan, number, split, deadline)

    settings = {"rounds": 6, "priors": SHALLOW, "checkpoint": tmp_path / "search.jsonl", **QUICK}
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "score", interrupted)
        cut = bhmc.search(data(), random_state=1, **settings)
    assert cut.n_rounds == 3
    assert cut.n_splits == 2
    same(bhmc.search(data(), random_state=1, **settings), whole)
    # From the file alone: its seed, and no chain at all.
    monkeypatch.setattr(run_module, "score", None)
    same(bhmc.search(data(), random_state=None, **settings), whole)


@pytest.mark.usefixtures("few_splits")
def test_a_line_that_was_cut_off(whole, tmp_path):
    path = tmp_path / "search.jsonl"
    settings = {"rounds": 6, "priors": SHALLOW, "random_state": 1, "checkpoint": path, **QUICK}
    bhmc.search(data(), **settings)
    path.write_text(path.read_text()[:-200])
    same(bhmc.search(data(), **settings), whole)
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_file_that_cannot_be_written(tmp_path, monkeypatch):
    """It is said once; the search goes on, and all of it is written as soon as that is mended."""
    path = tmp_path / "search.jsonl"
    book = Book(plan_of(data()), path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", _no_room)
        patch.setattr("bhmc._search.book.write_atomically", _no_room)
        with pytest.warns(UserWarning, match=r"No space left on device. The search goes on"):
            book.add([Score(0, 0, -1.0, 2.0)])
        book.add([Score(1, 0, -2.0, 2.0)])  # a second warning would be an error
    book.add([Score(2, 0, -3.0, 2.0)])
    assert sorted(Book(plan_of(data()), path).scores) == [(0, 0), (1, 0), (2, 0)]


def _no_room(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.usefixtures("few_splits")
def test_other_searches_are_refused(tmp_path):
    path = tmp_path / "search.jsonl"
    settings = {"rounds": 1, "priors": SHALLOW, "random_state": 1, "checkpoint": path, **QUICK}
    bhmc.search(data(), **settings)
    changes = {
        "data": {"X": data(seed=1)},
        "likelihood": {"likelihood": "shared_gaussian"},
        "subset": {"subset": 20},
        "warmup": {"warmup": 3},
        "entropy": {"random_state": 2},
        "priors": {"priors": SHALLOW | {"alpha": 1.0}},
    }
    for name, change in changes.items():
        with pytest.raises(ValueError, match=rf"another search \({name} differs\)"):
            bhmc.search(**({"X": data()} | settings | change))
    path.write_text("something else\n")
    with pytest.raises(ValueError, match=r"is not a file of bhmc\.search"):
        bhmc.search(data(), **settings)


# ---- Time and progress ----


def test_stops_in_time():
    """Within a round, too: on a slow machine the first one is not done by then."""
    lines, start = [], time.monotonic()
    result = bhmc.search(
        data(60),
        rounds=10**6,
        priors=SHALLOW,
        max_seconds=4.0,
        random_state=0,
        progress=lines.append,
    )
    assert time.monotonic() - start < 4.0 + 2.0
    assert result.n_rounds < 10**6
    assert "1,000,000 rounds; stops after 4 s as asked, about" in lines[0]


def test_what_was_done_by_then_is_kept():
    """Of rounds so short that a slow machine finishes some."""
    result = bhmc.search(
        data(60), rounds=10**6, priors=SHALLOW, max_seconds=2.0, random_state=0, **QUICK
    )
    assert 1 <= result.n_rounds < 10**6


def test_no_time_at_all():
    with pytest.raises(TimeoutError, match="max_seconds was too short"):
        bhmc.search(data(), max_seconds=1e-6, progress=False)


def test_without_second_scores_it_says_so(monkeypatch):
    """Time that ends after the rounds leaves first scores, and says that they are too good."""
    right = run_module.score

    def slow_finals(plan, number, split, deadline=np.inf):
        return right(plan, number, split, deadline) if split == 0 else None

    monkeypatch.setattr(run_module, "score", slow_finals)
    result = bhmc.search(data(), rounds=2, priors=SHALLOW, random_state=0, **QUICK)
    assert result.n_splits == 0
    assert np.isnan(result.gain_error)
    assert "the gain is not known" in repr(result)


def test_settings_beyond_a_double_lose(monkeypatch):
    """A round whose numbers fail scores -inf; the defaults' own failure is an error."""

    def fail(*args):
        raise np.linalg.LinAlgError("not positive definite")

    monkeypatch.setattr(rounds_module, "_score", fail)
    one = score(plan_of(data()), 1, 0)
    assert one is not None
    assert one.score == -np.inf
    with pytest.raises(np.linalg.LinAlgError):
        score(plan_of(data()), DEFAULTS, 0)


# ---- Data of all kinds ----


def with_gaps() -> np.ndarray:
    X = data()
    X[::4, 0] = np.nan
    return X


def rare_code() -> np.ndarray:
    """Code 5 occurs once: in most splits either side lacks it."""
    X = np.random.default_rng(0).integers(0, 3, (30, 2)).astype(float)
    X[7, 1] = 5.0
    return X


@pytest.mark.usefixtures("few_splits")
@pytest.mark.parametrize(
    ("likelihood", "X"),
    [
        ("auto", with_gaps()),
        ("auto", (data() > 3).astype(float)),
        ("categorical", rare_code()),
        ("multinomial", sparse.random_array((30, 4), density=0.5, rng=0).ceil()),
        ("poisson", pd.DataFrame(np.arange(60).reshape(30, 2) % 7)),
    ],
    ids=["missing", "binary", "categorical", "sparse", "frame"],
)
def test_data_of_all_kinds(likelihood, X):
    result = bhmc.search(X, likelihood=likelihood, rounds=2, priors=SHALLOW, **QUICK)
    assert np.isfinite([row["score"] for row in result.table]).all()


@pytest.mark.parametrize(
    ("n", "subset", "rows"),
    [(10_000, 0.15, 1_500), (1_000, 0.15, 500), (300, 0.15, 300), (300, 40, 40), (30, 90, 30)],
)
def test_rows_of_a_split(n, subset, rows):
    assert run_module._subset_rows(subset, n) == rows


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rounds": 0}, "rounds must be at least 1"),
        ({"warmup": -1}, "warmup must be at least 0"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"subset": 1.5}, "subset must be above 0 and at most 1"),
        ({"subset": 3}, "subset must be at least 10"),
        ({"subset": "all"}, "subset must be a fraction or a whole number"),
        ({"max_seconds": 0}, "max_seconds must be finite and above 0"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"likelihood": "normal"}, "likelihood='normal' is none of"),
        ({"priors": {"delta": 1.0}}, "priors has 'delta', which is not one of 'n_levels'"),
        ({"priors": {"alpha": []}}, r"priors\['alpha'\] must be a prior, a list of choices"),
        ({"priors": 3}, "priors must be a dict"),
        ({"priors": {"alpha": -1.0}}, "alpha must be finite and above 0"),
        ({"priors": {"n_levels": 1.5}}, "n_levels must be a whole number"),
        ({"priors": {"alpha": lambda rng: None}}, r"priors\['alpha'\] must draw a number"),
        (
            {
                "likelihood": "full_gaussian",
                "priors": dict.fromkeys(["n_levels", "alpha", "gamma0", "gamma", "nu", "lam"]),
            },
            "priors leaves nothing to search",
        ),
        ({"progress": "yes"}, "progress must be True, False or a function"),
        ({"X": data(9)}, "while a minimum of 10 is required"),
    ],
)
def test_bad_arguments(change, sentence, monkeypatch):
    monkeypatch.setattr(run_module, "score", None)  # refused before any work
    with pytest.raises((TypeError, ValueError), match=sentence):
        bhmc.search(**({"X": data(), "progress": False} | change))
