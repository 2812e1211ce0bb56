"""What `diagnose` finds, and how it says so."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bhmc.posterior.advice import warn_if_not_converged
from bhmc.posterior.diagnostics import diagnose
from bhmc.posterior.draws import Draws
from tests.posterior.draws_factory import make_draws
from tests.posterior.long_chains import autoregression, figures, long_draws, row_of


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
        expected = [np.mean(values), np.std(values, ddof=1), *figures(values)]
        columns = ("mean", "sd", "rhat", "ess_bulk", "ess_tail", "mcse_mean")
        np.testing.assert_allclose([row[column] for column in columns], expected, rtol=1e-12)


def test_of_very_many_shared_numbers_some_are_judged():
    shared = np.random.default_rng(0).normal(size=(*long_draws().n_nodes.shape, 7_000))
    draws = long_draws(shared=shared)
    names = [name for name in draws.numbers() if name.startswith("shared")]
    assert names == [f"shared[{i}]" for i in range(0, 7_000, 3)]
    np.testing.assert_array_equal(draws.numbers()["shared[6999]"], shared[:, :, 6_999])


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
