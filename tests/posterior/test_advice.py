"""What a warning says: which part has settled, and a run that should be long enough."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bhmc.posterior.advice import Longer, longer, settled, warn_if_not_converged
from bhmc.posterior.diagnostics import diagnose
from tests.posterior.long_chains import autoregression, long_draws

APART = 3 * np.array([[0.0], [1.0]])


def judged(*names, **others):
    """Chains that agree in every number but these."""
    draws = long_draws()
    return diagnose(long_draws(**{name: getattr(draws, name) + APART for name in names}, **others))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (("n_components",), "The tree has settled, the components have not."),
        (("gamma0",), "The tree has settled, the components have not."),
        (("n_nodes",), "The components have settled, the tree has not."),
        (("alpha", "log_joint"), "The components have settled, the tree has not."),
        (("gamma", "gamma0"), "Neither the components nor the tree have settled."),
        (("log_joint",), "The components and the tree have settled."),
    ],
)
def test_what_has_settled(wrong, sentence):
    assert settled(judged(*wrong)) == sentence


def test_levels_are_the_trees_and_pairs_the_components():
    draws = long_draws()
    nodes_at = draws.nodes_at.copy()
    nodes_at[1] += 9
    assert settled(judged(nodes_at=nodes_at)).endswith("the tree has not.")
    together = np.zeros_like(draws.together)
    together[1] = True
    assert settled(judged(together=together)).endswith("the components have not.")


def test_a_run_is_as_much_longer_as_effective_draws_are_missing():
    """Twice as long at least, 16 times at most; in between by the fewest effective draws."""
    for correlation in (0.9, 0.97, 0.99):
        alpha = autoregression(correlation, (2, 300), seed=3)
        found = diagnose(long_draws(alpha=alpha))
        row = list(found.table["name"]).index("alpha")
        ess = min(found.table["ess_bulk"][row], found.table["ess_tail"][row])
        advice = longer(found, n_warmup=200, thin=2)
        times = advice.thin // 2
        assert times in (2, 4, 8, 16)
        assert times == 16 or times * ess >= 1.5 * 50
        assert times == 2 or times / 2 * ess < 1.5 * 50
        assert advice.n_draws is None
        assert advice.n_warmup == max(800, 300 * advice.thin)


def test_few_draws_become_enough():
    draws = long_draws()
    found = diagnose(draws._select(slice(None), np.arange(10)))
    advice = longer(found, n_warmup=5, thin=1, seconds_per_sweep=0.01)
    assert (advice.n_draws, advice.thin, advice.n_warmup) == (300, 1, 300)
    assert advice.seconds == pytest.approx(6.0)


def test_words_of_both_interfaces():
    advice = Longer(n_warmup=2000, thin=20, seconds=40.2)
    assert advice.in_options() == "--warmup 2000 --thin 20, about 40 s"
    assert advice.in_python().startswith("BHMC(n_warmup=2000, thin=20), about 40 s, or ")
    for seconds, said in ((0.2, "1 s"), (119, "119 s"), (130, "2 min"), (9000, "2 h")):
        assert advice._replace(seconds=seconds).in_options().endswith(f"about {said}")
    assert advice._replace(seconds=0.0).in_options() == "--warmup 2000 --thin 20"
    assert "--draws 300" in advice._replace(n_draws=300).in_options()
    assert "n_draws=300" in advice._replace(n_draws=300).in_python()


def test_a_warning_speaks_to_both():
    with pytest.warns(ConvergenceWarning) as caught:
        warn_if_not_converged(judged("n_nodes"), Longer(2000, 20, seconds=40.0))
    (warning,) = caught
    assert warning.filename == __file__
    assert "the tree has not. What to do: BHMC(n_warmup=2000, thin=20)" in str(warning.message)
    options = warning.message.in_options
    assert options.endswith("What to do: --warmup 2000 --thin 20, about 40 s.")


def test_more_sweeps_do_not_cure_extreme_values():
    log_joint = long_draws().log_joint.copy()
    log_joint[0, 0] = np.inf
    with pytest.warns(ConvergenceWarning, match="What to do: look for extreme values in the data"):
        warn_if_not_converged(diagnose(long_draws(log_joint=log_joint)), Longer(2000, 20))
