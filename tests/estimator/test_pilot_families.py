"""`likelihood="auto"`: held-out rows choose the family of numbers, and with it the transition."""

import numpy as np
import pytest
from scipy import sparse

from bhmc import BHMC
from bhmc._estimator import pilot_families
from bhmc._estimator.pilot_families import family_evidence
from bhmc._validation.frames import Columns
from bhmc.model.registry import transition_named
from bhmc.posterior.family_evidence import FamilyEvidence, judged


def evidence(X, columns=None, **settings) -> FamilyEvidence | None:
    model = BHMC(**settings)
    columns = columns or Columns()
    transition = model._bound_transition(X, columns)
    return model._family_by_evidence(transition, X, columns)[0]


def tilted(n=120, seed=0):
    """Three groups in two columns that vary together within every group."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, 2)) @ np.array([[1.0, 1.0], [-0.1, 0.1]])
    return noise + np.array([[0, 0], [0, 1.5], [3, -1]])[np.arange(n) % 3]


def crossed(n=200, seed=0):
    """Two groups around one middle, long in different directions."""
    rng = np.random.default_rng(seed)
    wide = rng.normal(size=(n, 2)) * [4.0, 0.2]
    wide[::2] = wide[::2, ::-1]
    return wide


def test_groups_with_one_tilted_noise_share_a_learned_covariance():
    found = evidence(tilted())
    assert found.chosen.likelihood == "tied_gaussian"
    names = [one.likelihood for one in found.tried]
    assert names == ["tied_gaussian", "shaped_gaussian", "shared_gaussian", "full_gaussian"]
    without_correlations = found.tried[2]
    assert without_correlations.gain < -2 * without_correlations.error


def test_groups_with_noise_of_their_own_get_it_and_the_transition_that_allows_it():
    X = crossed()
    model = BHMC(n_levels=1, n_warmup=5, n_draws=5, n_chains=1, random_state=0).fit(X)
    found = model.family_evidence_
    assert (found.chosen.likelihood, found.chosen.transition) == ("full_gaussian", "hdp")
    assert found.chosen.gain > 0.05
    assert type(model.likelihood_).__name__ == "FullGaussian"
    assert model.transition_.name == "hdp"
    assert "full_gaussian, with transition hdp" in str(found)


def test_a_transition_that_was_asked_for_stays():
    found = evidence(crossed(), transition="diffused")
    assert {one.transition for one in found.tried} == {"diffused"}
    assert found.chosen.likelihood != "full_gaussian"


def test_the_evidence_is_a_function_of_the_table(monkeypatch):
    monkeypatch.setattr(pilot_families, "_SWEEPS", 10)
    monkeypatch.setattr(pilot_families, "_DISCARDED", 5)
    X = tilted(60)
    assert evidence(X, random_state=0) == evidence(X, random_state=1)


def missing(X):
    """More than half of the rows lack a number."""
    X = X.copy()
    X[: len(X) // 2 + 1, 0] = np.nan
    return X


@pytest.mark.parametrize(
    ("X", "settings"),
    [
        (tilted(29), {}),  # fewer than ten rows for each number of a covariance
        (missing(tilted()), {}),
        (np.column_stack([tilted(), np.ones(120)]), {}),
        ((tilted() > 0).astype(float), {}),
        (tilted()[:, :1], {}),
        (sparse.csr_matrix((tilted() > 0).astype(float)), {}),
        (tilted(), {"likelihood": "shared_gaussian"}),
        (tilted(), {"transition": "hdp"}),
    ],
)
def test_where_there_is_nothing_to_choose_nothing_is_tried(X, settings, monkeypatch):
    monkeypatch.setattr(pilot_families, "_held_out", lambda *asked: pytest.fail("was tried"))
    assert evidence(X, **settings) is None


def test_thirty_rows_of_two_columns_are_enough(monkeypatch):
    monkeypatch.setattr(pilot_families, "_held_out", lambda *asked: np.arange(6.0))
    assert evidence(tilted(30)) is not None


def test_numbers_of_a_mixed_table_choose_among_families_on_the_tree(monkeypatch):
    seen = []
    monkeypatch.setattr(
        pilot_families,
        "_held_out",
        lambda name, transition, rows, n_levels: seen.append((name, rows.shape)) or np.arange(6.0),
    )
    X = np.column_stack([tilted(), np.arange(120) % 3])
    found = evidence(X, Columns(categories={2: ["a", "b", "c"]}))
    assert seen == [(name, (120, 2)) for name in pilot_families.ON_A_TREE]
    assert found.chosen.likelihood == "tied_gaussian"


def test_the_numbers_of_a_mixed_table_get_the_family_that_was_chosen(monkeypatch):
    def held_out(name, transition, rows, n_levels):
        return np.arange(20.0) + (name == "shared_gaussian")

    monkeypatch.setattr(pilot_families, "_held_out", held_out)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(tilted(40), columns=["u", "v"]).assign(w=["a", "b"] * 20)
    model = BHMC(n_levels=1, n_warmup=1, n_draws=1, n_chains=1, random_state=0).fit(frame)
    assert [type(one).__name__ for one in model.likelihood_.families] == [
        "SharedGaussian",
        "Categorical",
    ]
    assert model.family_evidence_.chosen.likelihood == "shared_gaussian"


def test_rows_are_held_out_of_the_chain_that_judges_them(monkeypatch):
    parts = []

    def log_densities(name, transition, train, test, n_levels):
        parts.append((train[:, 0], test[:, 0]))
        return test[:, 0]

    monkeypatch.setattr(pilot_families, "_log_densities", log_densities)
    X = np.arange(100.0)[:, None]
    transition = transition_named("diffused")
    found = pilot_families._held_out("tied_gaussian", transition, X, 3)
    assert len(parts) == 5  # 90 rows are to be judged
    assert sorted(found) == list(range(100))
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(100))
    parts.clear()
    assert len(pilot_families._held_out("tied_gaussian", transition, np.ones((800, 1)), 3)) == 160


def test_densities_are_near_the_true_ones():
    """Near those of the true mixture, where groups are far apart."""
    rng = np.random.default_rng(1)
    centre = np.array([[-20.0, 0.0], [20.0, 5.0]])[np.arange(400) % 2]
    X = centre + rng.normal(size=(400, 2))
    transition = BHMC()._bound_transition(X, Columns())
    found = pilot_families._held_out("tied_gaussian", transition, X, 1)
    true = np.log(0.5) - np.log(2 * np.pi) - 0.5 * ((X - centre) ** 2).sum(axis=1)
    judged_rows = np.concatenate([np.flatnonzero(np.arange(400) % 5 == k) for k in range(2)])
    assert abs((found - true[judged_rows]).mean()) < 0.05


NAMES = [("usual", "a", True), ("other", "a", True), ("unplaced", "b", False)]


def test_another_family_must_gain_two_standard_errors():
    rng = np.random.default_rng(0)
    usual = rng.normal(size=400)
    by_chance = usual + rng.normal(size=400) + 0.06  # the standard error is 0.05
    assert (
        judged(NAMES[:2], [usual, by_chance - (by_chance - usual).mean() + 0.09]).chosen.gain == 0
    )
    clearly = judged(NAMES[:2], [usual, by_chance - (by_chance - usual).mean() + 0.11])
    assert clearly.chosen.likelihood == "other"
    assert clearly.chosen.gain == pytest.approx(0.11)
    assert clearly.chosen.error == pytest.approx(0.05, rel=0.1)


def test_one_without_a_place_must_gain_more_than_five_hundredths():
    usual = np.linspace(-1, 1, 50)
    small, large = usual + 0.049, usual + 0.051
    assert judged(NAMES, [usual, usual, small]).chosen.likelihood == "usual"
    assert judged(NAMES, [usual, small, large]).chosen.likelihood == "unplaced"
    assert judged(NAMES, [usual, large, small]).chosen.likelihood == "other"


def test_what_was_tried_is_saved_with_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr(pilot_families, "_held_out", lambda *asked: np.arange(6.0))
    model = BHMC(n_levels=1, n_warmup=1, n_draws=1, n_chains=1, random_state=0).fit(tilted(30))
    model.save(tmp_path / "model.bhmc")
    loaded = BHMC.load(tmp_path / "model.bhmc")
    assert loaded.family_evidence_ == model.family_evidence_
    assert family_evidence(loaded, loaded._bound_transition(), None, tilted(29), Columns()) is None


def test_a_chain_of_another_family_is_not_resumed(tmp_path, monkeypatch):
    quick = {"n_levels": 1, "n_warmup": 1, "n_draws": 2, "n_chains": 1, "random_state": 0}
    X, settings = tilted(30), {**quick, "checkpoint": str(tmp_path / "chain")}
    with monkeypatch.context() as patch:
        patch.setattr(pilot_families, "_ROWS_A_NUMBER", 10**9)
        BHMC(**settings).fit(X)  # as a bhmc that tried no families
    monkeypatch.setattr(pilot_families, "_held_out", lambda *asked: np.arange(6.0))
    with pytest.raises(ValueError, match="likelihood"):
        BHMC(**{**settings, "n_draws": 3}).fit(X)


def test_gaps_are_no_obstacle_where_half_of_the_rows_are_whole():
    X = tilted(240)
    X[3::2, 0], X[0] = np.nan, np.nan
    found = evidence(X)  # 120 whole rows, 30 are needed
    assert [one.likelihood for one in found.tried] == list(pilot_families.ON_A_TREE)
    assert found.chosen.likelihood == "tied_gaussian"
    assert evidence(X[:70]) is not None
    assert evidence(X[:58]) is None  # 29 whole rows


@pytest.mark.parametrize("n_lacking", [0, 60, 61])
def test_too_many_rows_that_lack_numbers_are_named(n_lacking):
    X = tilted(120)
    X[:n_lacking, 0] = np.nan
    model = BHMC()
    transition = model._bound_transition(X, Columns())
    note = pilot_families.note_on_gaps(model, transition, X, Columns())
    assert note.startswith("61 of 120 rows lack a number, so" if n_lacking > 60 else "")
    assert bool(note) == (n_lacking > 60)
    named = BHMC(likelihood="shared_gaussian")
    assert pilot_families.note_on_gaps(named, transition, X, Columns()) == ""
