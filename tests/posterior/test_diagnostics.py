"""R-hat and effective sample sizes against ArviZ, what `diagnose` says, and draws in ArviZ."""

import functools
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter
from sklearn.exceptions import ConvergenceWarning

from bhmc.posterior import diagnostics
from bhmc.posterior.arviz import to_arviz
from bhmc.posterior.diagnostics import (
    diagnose,
    ess_bulk,
    ess_tail,
    mcse_mean,
    rhat,
    warn_if_not_converged,
)
from bhmc.posterior.draws import Draws
from bhmc.posterior.rhat_ess import _BLOCK
from tests.posterior.draws_factory import make_draws

TOLERANCE = 1e-8


def autoregression(strength, shape, seed):
    """AR(1) chains (chain, draw, ...) in equilibrium, each number standard normal."""
    rng = np.random.default_rng(seed)
    n_chains, n_draws, *rest = shape
    noise = rng.normal(size=(n_chains, n_draws + 500, *rest)) * np.sqrt(1 - strength**2)
    return lfilter([1], [1, -strength], noise, axis=1)[:, 500:]


@functools.cache
def _base(n_chains):
    return make_draws(n_chains=n_chains, n_draws=300)


def long_draws(n_chains=2, **replaced):
    """300 independent draws of each chain, with some arrays put in place of others."""
    return replace(_base(n_chains), **replaced)


def traces(n_chains, n_draws):
    """Numbers of many kinds by name."""
    shape = (n_chains, n_draws)
    rng = np.random.default_rng(n_chains * 1000 + n_draws)
    still = rng.normal(size=shape)
    still[0] = 0.3
    found = {
        "independent": rng.normal(size=shape),
        "integer": rng.poisson(1.5, shape),
        "slow integer": np.round(2 * autoregression(0.9, shape, n_draws)).astype(int),
        "constant": np.full(shape, 0.1),
        "constant in one chain": still,
        "heavy tails": rng.standard_cauchy(shape),
        "boolean": rng.random(shape) < 0.3,
        "rare": rng.random(shape) < 0.02,
        "far from 0": 1e8 + rng.normal(size=shape),
        "drift": rng.normal(size=shape) + np.linspace(0, 3, n_draws),
    }
    for strength in (-0.9, 0.3, 0.9, 0.99):
        found[f"AR {strength}"] = autoregression(strength, shape, n_draws)
    return found


KINDS = list(traces(2, 4))
# 4 is the least; odd numbers lose their middle draw; 10 are the first to hold two pairs of lags.
LENGTHS = [4, 5, 6, 7, 9, 10, 11, 50, 301]


def by_arviz(values):
    """R-hat, bulk and tail effective sample size and error of the mean, as ArviZ has them."""
    from arviz_stats.base import array_stats

    values = np.asarray(values, dtype=float)  # ArviZ has no quantiles of truth values
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            float(array_stats.rhat(values)),
            float(array_stats.ess(values, method="bulk")),
            float(array_stats.ess(values, method="tail", prob=(0.05, 0.95))),
            float(array_stats.mcse(values, method="mean")),
        ]


def ours(values):
    return [float(measure(values)) for measure in (rhat, ess_bulk, ess_tail, mcse_mean)]


# ------------------------------------------------------------------------------------------------
# The figures
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_chains", [1, 2, 4])
def test_equal_to_arviz(kind, n_chains):
    for n_draws in LENGTHS:
        values = traces(n_chains, n_draws)[kind]
        expected, found = by_arviz(values), ours(values)
        if n_chains == 1:  # ArviZ has no R-hat of one chain; see below
            assert np.isnan(expected[0])
            expected, found = expected[1:], found[1:]
        np.testing.assert_allclose(
            found, expected, rtol=TOLERANCE, atol=1e-12, err_msg=f"{n_draws}"
        )


def test_many_numbers_at_once_are_each_its_own():
    columns = list(traces(2, 50).values()) * 10  # more than are measured in one go
    values = np.stack(columns, axis=-1).astype(float).reshape(2, 50, 2, -1)
    assert len(columns) > 2 * _BLOCK
    for measure in (rhat, ess_bulk, ess_tail, mcse_mean):
        each = np.reshape([measure(column) for column in columns], (2, -1))
        np.testing.assert_allclose(measure(values), each, rtol=1e-12)


def test_one_chain_has_the_rhat_of_its_halves():
    """ArviZ gives NaN, but has the plain R-hat of two chains: the halves, as normal scores."""
    from arviz_stats.base import array_stats

    def plain(halves):
        scores = stats.norm.ppf((stats.rankdata(halves).reshape(2, -1) - 0.375) / (60 + 0.25))
        return float(array_stats.rhat(scores, method="identity"))

    for seed in range(5):
        values = autoregression(0.8, (1, 60), seed)
        halves = values.reshape(2, 30)
        expected = max(plain(halves), plain(np.abs(halves - np.median(halves))))
        assert float(rhat(values)) == pytest.approx(expected, rel=TOLERANCE)
    assert np.isnan(rhat(values, split=False))


def test_rhat_of_whole_chains_does_not_see_drift():
    values = np.random.default_rng(0).normal(size=(2, 200)) + np.linspace(0, 4, 200)
    assert rhat(values) > 1.3
    assert rhat(values, split=False) < 1.01


def test_rhat_of_a_constant_is_not_a_number():
    """There is nothing to compare; ArviZ says the same, with a warning of NumPy's."""
    for n_chains in range(1, 8):
        for n_draws in range(4, 60):
            values = np.full((n_chains, n_draws), 0.1)
            assert np.isnan(rhat(values))
            assert mcse_mean(values) == 0


@pytest.mark.parametrize("n_chains", [2, 3, 4, 7])
def test_rhat_of_chains_that_stand_still_apart_is_infinite(n_chains):
    """ArviZ says infinity or, where rounding leaves a variance, a number beyond 1e14."""
    values = np.repeat(0.1 * np.arange(1, n_chains + 1)[:, None], 300, axis=1)
    assert rhat(values) == np.inf
    assert by_arviz(values)[0] > 1e14
    # However often a chain repeats itself, it is worth about one draw.
    assert ess_bulk(values) < 2 * n_chains


def test_no_answer_from_three_draws_or_from_what_is_not_finite():
    rng = np.random.default_rng(0)
    for measure in (rhat, ess_bulk, ess_tail, mcse_mean):
        assert np.isnan(measure(rng.normal(size=(2, 3))))
        assert np.isnan(measure(np.full((2, 20), np.nan)))
        values = rng.normal(size=(2, 20, 3))
        values[0, 3, 0], values[1, 0, 1] = np.nan, -np.inf
        found = measure(values)
        np.testing.assert_array_equal(np.isnan(found), [True, True, False])
        assert found[2] == measure(values[:, :, 2])


def test_effective_draws_of_an_autoregression():
    """n (1 - r) / (1 + r), the truth for the mean, on average over 200 numbers."""
    values = autoregression(0.6, (4, 500, 200), 1)
    assert np.mean(ess_bulk(values)) == pytest.approx(2000 * 0.4 / 1.6, rel=0.05)
    standard_error = mcse_mean(values)
    assert np.std(values.mean(axis=(0, 1))) == pytest.approx(np.mean(standard_error), rel=0.15)


# ------------------------------------------------------------------------------------------------
# The judgement
# ------------------------------------------------------------------------------------------------


def row_of(found, name):
    """One number's entries in the table."""
    i = list(found.table["name"]).index(name)
    return {column: values[i] for column, values in found.table.items()}


def test_independent_draws_pass():
    found = diagnose(long_draws())
    assert found.converged
    assert found.problems == ()
    assert found.table["ok"].all()


def test_the_table_has_every_number_and_its_figures():
    draws = make_draws(n_draws=40)
    found = diagnose(draws)
    assert list(found.table["name"]) == list(draws.numbers())
    for name, values in draws.numbers().items():
        row = row_of(found, name)
        if row["constant"]:
            continue
        expected = [np.mean(values), np.std(values, ddof=1), *ours(values)]
        columns = ("mean", "sd", "rhat", "ess_bulk", "ess_tail", "mcse_mean")
        np.testing.assert_allclose([row[column] for column in columns], expected, rtol=1e-12)


def test_chains_that_disagree_are_reported():
    draws = long_draws()
    n_components = draws.n_components + np.array([[0], [2]])
    found = diagnose(long_draws(n_components=n_components))
    assert not found.converged
    assert not row_of(found, "n_components")["ok"]
    (problem,) = found.problems
    assert problem.startswith("n_components differs between chains (R-hat 1.9")
    assert "n_warmup" in problem


def test_chains_a_standard_deviation_apart_are_reported():
    alpha = np.random.default_rng(0).normal(size=(2, 300)) + np.array([[0.0], [1.0]])
    found = diagnose(long_draws(alpha=alpha))
    assert row_of(found, "alpha")["rhat"] < 1.2
    (problem,) = found.problems
    assert problem.startswith("alpha differs between chains (R-hat 1.1")


def test_chains_that_stand_still_apart_are_reported():
    n_nodes = np.repeat([[5], [9]], 300, axis=1)
    found = diagnose(long_draws(n_nodes=n_nodes))
    row = row_of(found, "n_nodes")
    assert row["rhat"] == np.inf
    assert not row["constant"]
    assert not row["ok"]
    (problem,) = found.problems
    assert problem.startswith("n_nodes never changes in a chain but differs between chains")
    assert "infinite" in problem


def test_drift_is_told_from_disagreement():
    log_joint = long_draws().log_joint + np.linspace(0, 30, 300)
    found = diagnose(long_draws(log_joint=log_joint))
    (problem,) = found.problems
    assert problem.startswith("log_joint differs between the halves of a chain (R-hat 1.")
    assert "n_warmup" in problem


def test_few_effective_draws_are_reported():
    """Slow, but the chains agree: each is the other backwards, and each its own mirror."""
    half = np.sin(np.linspace(0, 3 * np.pi, 150))
    alpha = np.stack([np.concatenate([half, half[::-1]]), np.concatenate([half[::-1], half])])
    found = diagnose(long_draws(alpha=alpha))
    row = row_of(found, "alpha")
    assert row["rhat"] < 1.01
    assert not row["ok"]
    (problem,) = found.problems
    ess = min(row["ess_bulk"], row["ess_tail"])
    assert problem == f"alpha has {ess:.0f} effective draws in 600: raise n_draws."


def test_few_effective_draws_in_a_tail_are_reported():
    """Great values come eight in a row, in every half of every chain."""
    alpha = np.random.default_rng(0).normal(size=(2, 300))
    alpha[:, 50:58] += 10
    alpha[:, 200:208] += 10
    draws = long_draws(alpha=alpha)
    row = row_of(diagnose(draws), "alpha")
    assert 1.3 * row["ess_tail"] < row["ess_bulk"]
    between = (row["ess_tail"] + row["ess_bulk"]) / 2
    assert not row_of(diagnose(draws, least_ess=between / 2), "alpha")["ok"]
    assert row_of(diagnose(draws, least_ess=row["ess_tail"] / 2), "alpha")["ok"]


def test_the_worst_comes_first():
    draws = long_draws()
    apart = np.array([[0.0], [1.0]])
    found = diagnose(
        long_draws(
            gamma=draws.gamma + 3 * apart,
            alpha=draws.alpha + 12 * apart,
            n_nodes=np.repeat([[5], [9]], 300, axis=1),
        )
    )
    assert [problem.split()[0] for problem in found.problems] == ["n_nodes", "alpha", "gamma"]


def test_a_pair_is_named_with_its_rows():
    together = np.zeros((2, 300, 4), dtype=bool)
    together[1, :, 2] = True
    draws = long_draws(together=together)
    first, second = draws.pairs[2]
    (problem,) = diagnose(draws).problems
    assert problem.startswith(f"together[2] (rows {first} and {second}) never changes")


def test_constants_are_not_judged():
    found = diagnose(long_draws(gamma=np.full((2, 300), 0.1)))
    row = row_of(found, "gamma")
    assert found.converged
    assert row["constant"]
    assert (row["mean"], row["sd"], row["mcse_mean"]) == (0.1, 0.0, 0.0)
    assert any("not judged" in remark and "gamma" in remark for remark in found.remarks)


def test_one_chain_gets_a_remark():
    found = diagnose(long_draws(n_chains=1))
    assert found.converged
    assert any("One chain cannot show" in remark for remark in found.remarks)
    assert not any("One chain" in remark for remark in diagnose(long_draws()).remarks)


def test_drift_of_one_chain_is_reported():
    log_joint = long_draws(n_chains=1).log_joint + np.linspace(0, 30, 300)
    found = diagnose(long_draws(n_chains=1, log_joint=log_joint))
    (problem,) = found.problems
    assert problem.startswith("log_joint differs between the halves of a chain")


@pytest.mark.parametrize(("n_chains", "n_draws"), [(1, 1), (2, 1), (2, 3), (2, 24)])
def test_too_few_draws_are_no_convergence(n_chains, n_draws):
    found = diagnose(make_draws(n_chains=n_chains, n_draws=n_draws))
    assert not found.converged
    assert f"{n_draws} draw" in found.problems[0]
    assert "cannot show convergence: raise n_draws." in found.problems[0]
    assert (found.table["ok"] == found.table["constant"]).all()
    # Said once, not of every number.
    assert not any("effective draws" in problem for problem in found.problems)
    assert len(str(found)) > 0


def test_nothing_that_moves_is_no_convergence():
    still = {
        name: np.ones((2, 50))
        for name in ("log_joint", "log_likelihood", "alpha", "gamma0", "gamma")
    }
    partition = make_draws(n_chains=1, n_draws=1)
    whole = {
        name: np.broadcast_to(getattr(partition, name), (2, 50, *rest)).copy()
        for name, rest in [
            ("n_nodes", ()),
            ("n_components", ()),
            ("component_entropy", ()),
            ("nodes_at", (2,)),
            ("entropy_at", (2,)),
            ("shared", (1,)),
            ("together", (4,)),
        ]
    }
    found = diagnose(make_draws(n_draws=50, **still, **whole))
    assert found.table["constant"].all()
    assert found.problems == ("no number changed in any draw: run longer (n_warmup, n_draws).",)


def test_a_number_that_is_not_finite_is_named():
    log_joint = long_draws().log_joint.copy()
    log_joint[0, 3] = -np.inf
    found = diagnose(long_draws(log_joint=log_joint))
    (problem,) = found.problems
    assert problem.startswith("log_joint is not a finite number in 1 draw:")
    assert not row_of(found, "log_joint")["ok"]


def test_no_draws_are_refused():
    with pytest.raises(ValueError, match="has no draws to diagnose"):
        diagnose(make_draws(n_draws=30)._select(slice(None), np.arange(0)))


def test_limits_can_be_set():
    draws = long_draws()
    greatest = np.nanmax(diagnose(draws).table["rhat"])
    assert greatest > 1.001
    strict = diagnose(draws, rhat_limit=1.001)
    assert not strict.converged
    np.testing.assert_array_equal(strict.table["ok"], ~(strict.table["rhat"] > 1.001))
    assert not diagnose(draws, least_ess=300).converged
    assert diagnose(draws, rhat_limit=greatest).converged


def fits(strength, n_fits, shift=0.0):
    """Share of fits of 2 x 300 draws, with 25 numbers, that are called not converged."""
    rings = 0
    for seed in range(n_fits):
        values = autoregression(strength, (2, 300, 25), seed)
        values[1, :, 0] += shift
        rings += not diagnose(_Numbers(values)).converged
    return rings / n_fits


class _Numbers(Draws):
    """Draws of any numbers."""

    def __init__(self, values):
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "log_joint", values[:, :, 0])
        object.__setattr__(self, "pairs", np.zeros((0, 2), dtype=int))

    def numbers(self):
        return {f"x{i}": self.values[:, :, i] for i in range(self.values.shape[2])}


def test_the_alarm_is_quiet_for_good_chains_and_rings_for_bad_ones():
    """The figures in the docstring of `diagnose`, in small: correlation 1/2 has 100 effective draws
    a chain, 0.85 has 24."""
    assert fits(0.0, 20) == 0
    assert fits(0.5, 20) <= 0.1
    assert fits(0.85, 10) == 1
    assert fits(0.0, 10, shift=0.75) >= 0.8


# ------------------------------------------------------------------------------------------------
# What a person sees
# ------------------------------------------------------------------------------------------------


def test_the_text_is_aligned_and_says_what_is_wrong():
    n_nodes = np.repeat([[5], [9]], 300, axis=1)
    draws = long_draws(n_nodes=n_nodes, gamma=np.ones((2, 300)))
    head, table, foot = str(diagnose(draws)).split("\n\n")
    assert head == "2 chains x 300 draws: NOT converged"
    titles, *rows = table.splitlines()
    assert titles.split() == ["number", "mean", "sd", "R-hat", "ESS", "bulk", "ESS", "tail", "ok"]
    assert len(rows) == len(draws.numbers())
    for row in rows:
        assert len(row) <= 88
        # Every figure ends where its title does.
        for title in ("mean", "sd", "R-hat", "ESS bulk", "ESS tail"):
            end = titles.index(title) + len(title)
            assert row[end - 1] != " "
            assert row[end : end + 2] == "  "
    by_name = {row.split()[0]: row.split()[1:] for row in rows}
    assert by_name["n_nodes"] == ["7", "2", "inf", "2", "2", "NO"]
    assert by_name["gamma"] == ["1", "0", "-", "-", "-", "-"]
    assert by_name["alpha"][-1] == "ok"
    assert foot.startswith("- n_nodes never changes in a chain")
    assert all(len(line) <= 88 for line in foot.splitlines())


def test_a_long_series_is_shown_by_its_worst():
    shared = np.random.default_rng(0).normal(size=(2, 300, 40))
    shared[1, :, [7, 20, 31, 39]] += np.array([[3], [2], [2.5], [1]])
    shared[:, :, 3] = 1.0
    draws = long_draws(shared=shared)
    lines = str(diagnose(draws)).splitlines()
    shown = [line.split()[0] for line in lines if line.startswith("shared")]
    assert shown == ["shared[7]", "shared[20]", "shared[31]", "shared:"]
    assert "shared: 37 more, 1 of them NO" in lines
    assert sum(line.startswith("together") for line in lines) == 4


def test_the_text_of_good_chains():
    text = str(diagnose(long_draws()))
    assert text.startswith("2 chains x 300 draws: nothing speaks against convergence\n")
    assert "NO" not in text
    assert str(diagnose(make_draws(n_chains=1, n_draws=1))).startswith("1 chain x 1 draw: NOT")


def test_repr():
    n_nodes = np.repeat([[5], [9]], 300, axis=1)
    found = diagnose(long_draws(n_nodes=n_nodes))
    assert repr(found) == "Diagnostics(17 numbers, 1 not converged)"


def test_to_frame():
    found = diagnose(long_draws())
    frame = found.to_frame()
    assert list(frame.index) == list(found.table["name"])
    for column, values in found.table.items():
        if column != "name":
            np.testing.assert_array_equal(frame[column].to_numpy(), values)


def test_to_frame_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = diagnose(long_draws())
    assert len(str(found)) > 0
    with pytest.raises(ImportError, match=r"Diagnostics.to_frame needs pandas: .*bhmc\[pandas\]"):
        found.to_frame()


def test_one_warning_names_the_worst_few():
    apart = np.array([[0.0], [1.0]])
    draws = long_draws()
    wrong = {
        name: getattr(draws, name) + scale * apart
        for name, scale in [("alpha", 4), ("gamma0", 5), ("gamma", 9), ("log_joint", 99)]
    }
    found = diagnose(long_draws(**wrong))
    assert len(found.problems) == 4
    with pytest.warns(ConvergenceWarning) as caught:
        warn_if_not_converged(found)
    (warning,) = caught
    message = str(warning.message)
    assert warning.filename == __file__
    named = [name for name in (*wrong, "n_nodes", "gamma0") if f" {name} " in message]
    assert sorted(set(named)) == ["gamma", "gamma0", "log_joint"]
    assert "and 1 more" in message
    assert message.endswith(f"What to do: {found.findings[0].advice}.")


def test_no_warning_for_good_chains():
    warn_if_not_converged(diagnose(long_draws()))  # a warning is an error in this suite


def test_all_public_names_exist():
    assert all(hasattr(diagnostics, name) for name in diagnostics.__all__)


# ------------------------------------------------------------------------------------------------
# ArviZ
# ------------------------------------------------------------------------------------------------

DIMS = {
    "nodes_at": ("level",),
    "entropy_at": ("level",),
    "shared": ("number",),
    "together": ("pair",),
    "components": ("row",),
    "nodes": ("row", "level"),
}
VARIABLES = ["log_likelihood", "n_nodes", "n_components", "component_entropy"]
VARIABLES += ["alpha", "gamma0", "gamma", "nodes_at", "entropy_at", "shared", "together"]


def test_every_value_is_in_arviz_again():
    draws = make_draws(n_chains=3, n_draws=5, n_shared=2)
    tree = draws.to_arviz()
    posterior = tree["posterior"]
    assert set(posterior.data_vars) == {*VARIABLES, "components", "nodes"}
    for name in VARIABLES:
        assert posterior[name].dims == ("chain", "draw", *DIMS.get(name, ()))
        np.testing.assert_array_equal(posterior[name].values, getattr(draws, name))
    assert posterior["components"].dims == ("chain", "draw", "row")
    np.testing.assert_array_equal(posterior["components"].values, draws.components)
    assert posterior["nodes"].dims == ("chain", "draw", "row", "level")
    np.testing.assert_array_equal(posterior["nodes"].values, draws.paths[..., 1:])
    assert tree["sample_stats"]["lp"].dims == ("chain", "draw")
    np.testing.assert_array_equal(tree["sample_stats"]["lp"].values, draws.log_joint)
    np.testing.assert_array_equal(tree["constant_data"]["pairs"].values, draws.pairs)


def test_coordinates_count_as_draws_do():
    """Levels from 1, all else from 0, so that a name in `numbers` means the same in ArviZ."""
    draws = make_draws(n_chains=2, n_draws=5, n_levels=3)
    posterior = draws.to_arviz()["posterior"]
    expected = {"chain": 2, "draw": 5, "number": 1, "pair": 4, "row": 7}
    for name, size in expected.items():
        assert list(posterior[name].values) == list(range(size))
    assert list(posterior["level"].values) == [1, 2, 3]
    for row, (first, second) in enumerate(draws.pairs):
        components = posterior["components"]
        same = components.sel(row=first).values == components.sel(row=second).values
        np.testing.assert_array_equal(posterior["together"].sel(pair=row).values, same)
    for level in (1, 2, 3):
        nodes = posterior["nodes"].sel(level=level, chain=1, draw=4).values
        assert posterior["nodes_at"].sel(level=level, chain=1, draw=4) == len(np.unique(nodes))


def test_arviz_finds_the_figures_that_we_find():
    import arviz_stats

    draws = make_draws(n_draws=60, keep=0)  # labels of rows have no figures that mean anything
    tree = draws.to_arviz()
    found = diagnose(draws)
    assert not found.table["constant"].any()
    measures = {
        "rhat": lambda data: arviz_stats.rhat(data),
        "ess_bulk": lambda data: arviz_stats.ess(data, method="bulk"),
        "ess_tail": lambda data: arviz_stats.ess(data, method="tail", prob=(0.05, 0.95)),
        "mcse_mean": lambda data: arviz_stats.mcse(data),
    }
    compared = 0
    for column, measure in measures.items():
        posterior = measure(tree["posterior"].to_dataset())
        lp = measure(tree["sample_stats"].to_dataset())
        for name in draws.numbers():
            row = row_of(found, name)
            stem, _, index = name.rstrip("]").partition("[")
            theirs = lp["lp"] if stem == "log_joint" else posterior[stem]
            if index:
                theirs = theirs.sel({DIMS[stem][0]: int(index)})
            assert float(theirs) == pytest.approx(row[column], rel=TOLERANCE)
            compared += 1
    assert compared == 4 * 17


def test_arviz_summary_reads_it():
    import arviz_stats

    draws = make_draws(n_draws=60)
    summary = arviz_stats.summary(draws.to_arviz(), var_names=["~components", "~nodes"])
    assert set(summary.index) == set(draws.numbers()) - {"log_joint"}


def test_partitions_that_were_not_all_kept_are_left_out():
    draws = make_draws(keep=3, n_shared=0, n_pairs=0)
    tree = to_arviz(draws)
    absent = {"shared", "together", "components", "nodes"}
    assert set(tree["posterior"].data_vars) == set(VARIABLES) - absent
    assert "constant_data" not in tree.children


def test_without_arviz(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    draws = long_draws()
    assert diagnose(draws).converged
    with pytest.raises(ImportError, match=r"to_arviz needs ArviZ: .*bhmc\[arviz\]"):
        draws.to_arviz()
