"""Block moves of the hdp transition: which there are, how often they run, in which order.

Single rows cannot take a whole leaf elsewhere, because every step on the way is unlikely. A block
move changes many rows at once, and leaves the posterior alone. All of them run between the rows and
the draw of the weights: they leave weights behind that are to be drawn anew.

- "relocate": rows of one leaf and component move to another leaf or a new branch.
- "regraft": subtrees move to other parents.
- "dishes": tables of rows, with all that sits at them, move to other components or new ones.
- "split": rows of one leaf and component become a component of their own, or such a one joins
  another.
"""

from math import inf
from typing import Any

from bhmc.model.hdp.dishes import redraw_dishes
from bhmc.model.hdp.move_space import MoveSpace, move_space
from bhmc.model.hdp.splits import split_and_join
from bhmc.model.hdp.workspace import DEPTH

NAMES = ("relocate", "regraft", "dishes", "split")

# Relocations a sweep.
N_RELOCATIONS = 10

# Blocks of so many rows or more have auxiliary chains: the closed form takes their square.
THRESHOLD = 256

# So many pairs of a subtree and a parent are weighed at every level of a sweep: one for so many
# rows of the data, so that regrafting stays a small part of a sweep, and some in any case.
LEAST_PAIRS, ROWS_PER_PAIR = 400, 8

# Sweeps from one redraw of dishes to the next: it goes over all rows.
SWEEPS_PER_DISHES = 4

# Proposals of splits and joins at a time: one for so many pairs of rows, so many at least (or a
# short chain from a single path finds nothing in 50 rows) and so many at most.
PAIRS_PER_SPLIT, LEAST_SPLITS, MOST_SPLITS = 1000, 8, 32

# Sweeps from one time to the next, for tables of up to so many rows. Where rows are many there are
# many components, and a proposal is weighed against all of them.
SWEEPS_PER_SPLITS = ((500, 1), (20_000, 8), (inf, 16))


def check_moves(moves: Any) -> None:
    """Refuse what is neither "auto" nor a collection of names of moves.

    Parameters
    ----------
    moves : str or sequence of str
        As in `BHMC`.
    """
    if isinstance(moves, str):
        named = () if moves == "auto" else (moves,)
    else:
        named = moves if isinstance(moves, list | tuple) else (moves,)
    for name in named:
        if not isinstance(name, str) or isinstance(moves, str) or name not in NAMES:
            raise ValueError(
                f"moves must be 'auto' or a tuple of names, of {', '.join(map(repr, NAMES))}, "
                f"got {moves!r}."
            )


def chosen_moves(moves: Any, sampler: str, n_levels: int) -> tuple[str, ...]:
    """The moves that run, in their order: with "auto" all; none with the published sampler.

    Parameters
    ----------
    moves : str or sequence of str
        As in `BHMC`.
    sampler : str
        Name of the sampler.
    n_levels : int
        L; a tree of one level has no subtree that could have another parent.
    """
    named = NAMES if moves == "auto" else moves
    fitting = () if sampler == "paper" else NAMES
    return tuple(name for name in fitting if name in named and (n_levels > 1 or name != "regraft"))


class BlockMoves:
    """The block moves of one chain.

    Parameters
    ----------
    names : tuple of str
        Moves that run.
    every : int, default=1
        Sweeps from one time to the next, for chains whose sweeps are short.
    """

    def __init__(self, names: tuple[str, ...], every: int = 1):
        self.names, self._every, self._space = names, every, None

    def run(self, chain: Any) -> None:
        """Moves that are due, from rows counted in `customers`; the weights are to be drawn then.

        Parameters
        ----------
        chain : HdpSampler
            Changed in place.
        """
        if not _is_due(chain, self._every):
            return
        for name in self.names:
            getattr(self, f"_{name}")(chain)

    def _relocate(self, chain: Any) -> None:
        rows, done = chain.rows, 0
        while True:
            done = chain.engine.relocate(
                chain.ws,
                chain.rates,
                self._room(chain),
                rows.leaf,
                rows.component,
                THRESHOLD,
                done,
                N_RELOCATIONS,
                chain.source,
            )
            if done == N_RELOCATIONS:
                return
            chain.make_room()

    def _regraft(self, chain: Any) -> None:
        most = max(LEAST_PAIRS, chain.rows.n_rows // ROWS_PER_PAIR)
        self._room(chain).progress[:] = chain.ws.room[DEPTH], 0, -1
        while not chain.engine.regraft(
            chain.ws, chain.rates, self._room(chain), most, chain.source
        ):
            chain.make_room()
        chain.engine.draw_inner_weights(chain.ws, chain.rates, chain.source)

    def _dishes(self, chain: Any) -> None:
        if _is_due(chain, self._every * SWEEPS_PER_DISHES):
            redraw_dishes(chain)

    def _split(self, chain: Any) -> None:
        n_rows = chain.rows.n_rows
        if _is_due(chain, self._every * sweeps_per_splits(n_rows)):
            n_proposals = n_rows**2 // PAIRS_PER_SPLIT
            split_and_join(chain, min(max(n_proposals, LEAST_SPLITS), MOST_SPLITS))

    def _room(self, chain: Any) -> MoveSpace:
        """Space for the chain's arrays, which may have grown."""
        if self._space is None or self._space.tables.shape != chain.ws.customers.shape:
            self._space = move_space(chain.ws, THRESHOLD, self._space)
        return self._space


def sweeps_per_splits(n_rows: int) -> int:
    """Sweeps from one time of splits to the next.

    Parameters
    ----------
    n_rows : int
        Rows of the data.
    """
    return next(sweeps for most_rows, sweeps in SWEEPS_PER_SPLITS if n_rows <= most_rows)


def _is_due(chain: Any, every: int) -> bool:
    """Whether this sweep has a move that every so many sweeps have, the first among them."""
    return max(chain.passes - 1, 0) % every == 0
