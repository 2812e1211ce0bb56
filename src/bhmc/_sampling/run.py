"""`run`: a chain from its first sweep to its last draw; `Stopped`: it was asked to stop."""

from collections.abc import Callable

from bhmc.model.protocol import Sampler
from bhmc.model.state import Info


class Stopped(Exception):  # noqa: N818 (it is no error)
    """A chain was asked to stop in the middle of a sweep.

    The chain resumes the sweep where it is when `sweep` is called again, or after a capture.
    """


def run(
    chain: Sampler,
    *,
    n_warmup: int,
    n_draws: int,
    thin: int = 1,
    on_draw: Callable[[Sampler, Info], None],
    on_warmup: Callable[[Sampler], None] | None = None,
    on_sweep: Callable[[Sampler, int], bool] | None = None,
    done: int = 0,
) -> None:
    """`n_warmup` sweeps, then `n_draws` draws `thin` sweeps apart, each passed to `on_draw`.

    Parameters
    ----------
    chain : Sampler
        Changed in place.
    n_warmup, n_draws, thin : int
        As in `BHMC`.
    on_draw : function of (chain, info)
        Called at every draw.
    on_warmup : function of (chain), optional
        Called after every sweep of the warm-up. With `on_warmup` nothing is learned after the
        warm-up.
    on_sweep : function of (chain, sweeps made), optional
        Called after every sweep; a return value of True ends the run.
    done : int, default=0
        Sweeps made before, by a chain that this one resumes.
    """
    for made in range(done, n_warmup + n_draws * thin):
        if on_warmup is not None and (made == n_warmup or (made == done and made > n_warmup)):
            chain.stop_learning()
        info = chain.sweep()
        if made < n_warmup:
            if on_warmup is not None:
                on_warmup(chain)
        elif (made - n_warmup + 1) % thin == 0:
            on_draw(chain, info)
        if on_sweep is not None and on_sweep(chain, made + 1):
            return
