"""How kappa is chosen: on a fake chain whose tree is a function of kappa, and on real ones."""

from types import SimpleNamespace

import numpy as np
import pytest

from bhmc import BHMC
from bhmc.datasets import load_zoo
from bhmc.model.diffused.resolution import Size, readable

# A tree may have up to 14.25 branches and 38 leaves, 95 % of what can be read, and 45 components,
# 90 %.
N_ROWS = 400
STEP = 2.0 ** (1 / 3)


class FakeChain:
    """Its tree has sizes that depend on nothing but kappa: (branches, leaves, components)."""

    def __init__(self, size_of, n_rows=N_ROWS, n_coordinates=4):
        self.rows = SimpleNamespace(n_rows=n_rows)
        self.forest = SimpleNamespace(column=np.zeros(n_coordinates))
        self.size_of, self.kappa, self.tried = size_of, None, []

    def turn_to_kappa(self, kappa):
        self.kappa = kappa
        self.tried.append(kappa)

    def sweep(self):
        pass

    def sizes(self):
        branches, leaves, components = self.size_of(self.kappa)
        levels = np.repeat([0, 1, 2], [1, branches, leaves])
        return SimpleNamespace(levels=levels, components=np.ones(components))


def readable_kappa(chain):
    """Without the size of the tree, which is that at this kappa."""
    kappa, size = readable(chain)
    if type(chain) is FakeChain:  # others count sweeps, and their size depends on that
        assert size == Size(*chain.size_of(kappa))
    return kappa


def chosen(size_of, **settings):
    return readable_kappa(FakeChain(size_of, **settings))


def test_a_tree_that_can_be_read_keeps_kappa_at_1():
    chain = FakeChain(lambda kappa: (5, 20, 30))
    assert readable_kappa(chain) == 1.0
    assert chain.tried == [1.0]


@pytest.mark.parametrize("size", [(14, 20, 30), (5, 38, 30), (5, 20, 45), (2, 2, 2)])
def test_what_is_just_below_the_bounds_can_be_read(size):
    assert chosen(lambda kappa: size) == 1.0


@pytest.mark.parametrize(
    ("large", "small"),
    [((15, 20, 30), (14, 20, 30)), ((5, 39, 30), (5, 38, 30)), ((5, 20, 46), (5, 20, 45))],
    ids=["branches", "leaves", "components"],
)
def test_a_tree_that_is_too_large_has_a_larger_kappa(large, small):
    """The first step at which it can be read."""
    chain = FakeChain(lambda kappa: small if kappa > 1.9 else large)
    assert readable_kappa(chain) == pytest.approx(2.0)
    np.testing.assert_allclose(chain.tried, [1.0, STEP, STEP**2, 2.0])


def test_few_rows_may_have_nine_leaves_and_ten_components():
    for size, kappa in (((5, 9, 10), 1.0), ((5, 10, 10), 8.0), ((5, 9, 11), 2.0)):
        assert chosen(lambda _, size=size: size, n_rows=20) == pytest.approx(kappa)


@pytest.mark.parametrize(
    ("size", "n_rows"),
    [(Size(5, 9.3, 10), 20), (Size(14.1, 20, 30), N_ROWS)],
    ids=["leaves", "branches"],
)
def test_few_nodes_have_one_to_spare(size, n_rows):
    """5 % of 10 leaves are half a leaf, of 15 branches three quarters."""
    assert size.is_too_large(n_rows, 1.0)
    fewer = Size(min(size.branches, 14.0), min(size.leaves, 9.0), size.components)
    assert not fewer.is_too_large(n_rows, 1.0)


def test_a_tree_without_a_top_has_a_smaller_kappa():
    """The first step at which its root has two children."""
    chain = FakeChain(lambda kappa: (3, 6, 6) if kappa < 0.4 else (1, 4, 4))
    assert readable_kappa(chain) == pytest.approx(STEP**-4)
    np.testing.assert_allclose(chain.tried, [1.0, STEP**-1, STEP**-2, 0.5, STEP**-4])


def test_a_larger_kappa_stops_before_the_top_is_lost():
    assert chosen(lambda kappa: (1 if kappa > 2.1 else 4, 90, 90)) == pytest.approx(2.0)
    assert chosen(lambda kappa: (1 if kappa > 1 else 4, 90, 90)) == 1.0


def test_a_smaller_kappa_stops_before_the_tree_is_too_large():
    sizes = {True: (1, 4, 4), False: (20, 90, 90)}
    assert chosen(lambda kappa: sizes[kappa > 0.45]) == pytest.approx(0.5)
    assert chosen(lambda kappa: sizes[kappa > 0.9]) == 1.0


def test_kappa_stops_at_its_bounds():
    assert chosen(lambda kappa: (4, 90, 90)) == pytest.approx(8.0)
    assert chosen(lambda kappa: (1, 4, 4)) == pytest.approx(1 / 16)


def test_many_coordinates_have_a_smaller_kappa():
    """8 / D, or the last step before at which the tree can be read."""
    chain = FakeChain(lambda kappa: (5, 20, 30), n_coordinates=32)
    assert readable_kappa(chain) == pytest.approx(0.25)
    np.testing.assert_allclose(chain.tried, 1 / STEP ** np.arange(7))
    wide = {"n_coordinates": 12}
    assert chosen(lambda kappa: (5, 20, 30), **wide) == pytest.approx(16 / 24)
    assert chosen(lambda kappa: (5, 20 if kappa > 0.8 else 90, 30), **wide) == 1.0
    assert chosen(lambda kappa: (5 if kappa < 0.4 else 1, 20, 30), **wide) < 0.4


def test_components_alone_stop_at_2():
    """Leaves and branches do not."""
    assert chosen(lambda kappa: (4, 20, 90)) == pytest.approx(2.0)
    assert chosen(lambda kappa: (4, 20 if kappa > 5 else 90, 90)) == pytest.approx(4 * STEP)
    assert chosen(lambda kappa: (4 if kappa > 5 else 16, 20, 90)) == pytest.approx(4 * STEP)


def test_the_last_sweeps_of_a_kappa_are_judged():
    """Twenty sweeps are those in which the chain gets there; ten count, by their mean."""

    class Settles(FakeChain):
        made = 0

        def turn_to_kappa(self, kappa):
            super().turn_to_kappa(kappa)
            self.made = 0

        def sweep(self):
            self.made += 1

    late = Settles(lambda kappa: (4, 90 if late.made <= 20 else 20, 20))
    assert readable_kappa(late) == 1.0
    last = Settles(lambda kappa: (4, 50 if last.made == 30 and kappa < 2.5 else 37, 20))
    assert readable_kappa(last) == pytest.approx(2 * STEP)  # (9 * 37 + 50) / 10 is above 38


def test_few_rows_have_more_sweeps():
    """12,000 rows at each kappa, but 12 sweeps at least and 60 at most."""

    class Counts(FakeChain):
        made = 0

        def sweep(self):
            self.made += 1

    for n_rows, sweeps in ((50, 60), (400, 30), (5_000, 12)):
        chain = Counts(lambda kappa: (4, 6, 6), n_rows=n_rows)
        readable_kappa(chain)
        assert chain.made == sweeps


# ---- On data ----

QUICK = {"transition": "diffused", "n_levels": 2, "random_state": 3}
SHORT = {"n_warmup": 0, "n_draws": 1, "n_chains": 1}


def groups(n=60, k=5, d=16):
    """A few groups in so many columns that kappa falls to 8 / d."""
    rng = np.random.default_rng(0)
    return 1000 * rng.normal(size=(k, d))[np.arange(n) % k] + rng.normal(size=(n, d))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kappa_depends_on_data_alone():
    """On the seed, how long the chains are and what is kept of them it does not."""
    X = groups()
    kappa = BHMC(**QUICK, **SHORT).fit(X).transition_.kappa
    assert kappa == 0.5
    others = (
        {"random_state": 8},
        {"n_warmup": 7, "n_draws": 5, "thin": 2, "keep": "summary", "estimate": "map"},
    )
    for other in others:
        assert BHMC(**(QUICK | SHORT | other)).fit(X).transition_.kappa == kappa


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kappa_does_not_depend_on_the_number_of_chains():
    """A fit may be resumed with more of them."""
    settings = SHORT | {"transition": "diffused", "random_state": 4}
    X = load_zoo().data
    each = [BHMC(**settings | {"n_chains": n}).fit(X).transition_.kappa for n in (2, 3)]
    assert len(set(each)) == 1
