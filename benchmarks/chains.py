"""Chains of the hdp transition in one call, from a state and a family."""

from bhmc._sampling import start
from bhmc._validation.init import check_init
from bhmc.model.hdp.setting import Hdp
from bhmc.rows.local import LocalRows

SAMPLERS = Hdp.samplers


def chain_of(
    state,
    family,
    sampler,
    rng,
    *,
    engine=None,
    dtype="float64",
    learning=None,
    walk=False,
    moves=(),
):
    """A chain that goes on from `state`, with these conditionals, priors and block moves."""
    transition = Hdp(moves=moves).bind(learning or state.hyper, "paper" if walk else "exact")
    return transition.sampler(state, LocalRows(family, dtype), sampler, rng, engine)


def start_state(family, *, n_levels, hyper, rng, init="prior", dtype="float64"):
    """Where a chain starts, whatever `init` asks for."""
    rows = LocalRows(family, dtype)
    k = hyper.n_components
    init = check_init(init, n_rows=rows.n_rows, n_levels=n_levels, n_components=k)
    return start.start_state(Hdp().bind(hyper), rows, n_levels=n_levels, rng=rng, init=init)
