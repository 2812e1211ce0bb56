"""Wrong versions of the diffused transition are rejected by the tests that the true one passes."""

import numpy as np
import pytest

from bhmc.model.diffused import kernels
from tests.exact import alarm
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.diffused import SETTINGS
from tests.exact.invariance import paired_z
from tests.model.test_diffused_twin import LARGEST_DIFFERENCE
from tests.mutants.diffused_mutants import DIFFUSED_MUTANTS
from tests.mutants.diffused_parts import plain


@pytest.mark.parametrize("mutant", [m for m in DIFFUSED_MUTANTS if m.n_draws], ids=lambda m: m.name)
def test_mutant_is_rejected(mutant, monkeypatch):
    # Chance cannot make a mutant's test fail one time in so many, so it is not counted.
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    setting = SETTINGS[mutant.setting].with_moves(*mutant.moves)
    how = {"times": mutant.times, "engine": mutant.put_in(monkeypatch), "until": Z_LIMIT}
    z = np.abs(paired_z(setting, "gibbs", mutant.stage, mutant.n_draws, rng_for(210), **how))
    print(f"{mutant.name}: |z| {z.max():.1f}")
    assert z.max() > Z_LIMIT


def _of_weights():
    """Those that draws reject too are left to `make exact`."""
    for mutant in DIFFUSED_MUTANTS:
        if mutant.in_weights:
            marks = [pytest.mark.exact_long] if mutant.n_draws else []
            yield pytest.param(mutant, marks=marks, id=mutant.name)


@pytest.mark.parametrize("mutant", list(_of_weights()))
def test_wrong_weights_are_rejected(mutant):
    assert LARGEST_DIFFERENCE[mutant.moves[0]](plain(mutant.edits), n_seeds=1) > 1e-3


@pytest.mark.parametrize("name", ["clear, deep", "diagonal holes", "gaussian spherical"])
def test_unmutated_source_draws_what_the_compiled_kernels_draw(name):
    """So a mutant is rejected for its edits, and not because it is not compiled."""
    setting = SETTINGS[name]
    for seed in range(6):
        state, X = setting.prior_draw(rng_for(seed))
        ends = []
        for engine in (plain(), kernels):
            rng = rng_for(211)
            chain = setting.chain(state, X, "gibbs", rng, engine=engine)
            infos = [chain.sweep() for _ in range(4)]
            ends.append((chain.state(), infos, rng.random()))
        (one, *of_one), (other, *of_other) = ends
        assert of_one == of_other
        np.testing.assert_array_equal(one.paths, other.paths)
        np.testing.assert_array_equal(one.components, other.components)
        for part in ("locations", "variances"):
            pair = getattr(one.params, part), getattr(other.params, part)
            np.testing.assert_allclose(*pair, rtol=1e-9, atol=1e-12)
