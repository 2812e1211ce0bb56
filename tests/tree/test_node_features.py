"""What sets nodes apart, against the definition, row by row."""

import numpy as np
import pytest
from scipy import stats

from bhmc import Tree
from bhmc.tree.node_features import NUMBER, SHARE, WORD, node_features
from tests.tree.tree_factory import small_tree

KIND = {"number": NUMBER, "share": SHARE, "word": WORD}


def mixed_data(tree, rng):
    """Numbers, 0/1 and words that depend on the node of level 1; some entries are missing."""
    n, group = len(tree.paths), tree.labels_at(1)
    numbers = rng.normal(size=(n, 3)) + 3 * np.outer(group == 0, [1, 0, -1]) + 1e5
    shares = (rng.random((n, 2)) < np.where(group[:, None] == 0, [0.9, 0.5], [0.1, 0.5])) * 1.0
    words = rng.poisson(np.where(group[:, None] == 0, [6, 1, 2, 1], [1, 6, 2, 1])).astype(float)
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    shares[rng.random(shares.shape) < 0.1] = np.nan
    return np.hstack([numbers, shares, words]), np.repeat([False, True], [5, 4])


def slow(tree, X, words, node, against):
    """(statistic, effect) of every feature by the definition."""
    inside = np.isin(np.arange(len(X)), tree.members(node))
    top = node
    while top and tree.sizes[tree.parents[top]] == tree.sizes[node]:
        top = tree.parents[top]
    around = np.zeros(len(X), dtype=bool)
    around[
        tree.members(int(tree.parents[top])) if against == "siblings" and top else slice(None)
    ] = 1
    return [
        slow_word(X[:, words], X[:, j], inside, around & ~inside)
        if words[j]
        else slow_column(X[:, j], inside, around & ~inside)
        for j in range(X.shape[1])
    ]


def slow_column(x, inside, outside):
    one, two, every = (x[rows & ~np.isnan(x)] for rows in (inside, outside, inside | True))
    if not len(one) or not len(two):
        return 0.0, 0.0
    sign, n = np.sign(one.mean() - two.mean()), len(one) + len(two)
    if np.isin(every, [0, 1]).all():
        return slow_table(one.sum(), len(one), two.sum(), len(two), sign)
    within = one.var() * len(one) + two.var() * len(two) + 2 * every.var()
    h = len(one) * len(two) / n
    gap = one.mean() - two.mean()
    shares = np.array([len(one), len(two)]) / n
    most = 2 * n * stats.entropy(shares)
    g = min(n * np.log((within + h * gap**2) / within), most)
    return sign * np.sqrt(g), gap / np.sqrt(within / (n + 2)) * h / (h + 1)


def slow_table(a, n1, c, n2, sign):
    table = np.array([[a, n1 - a], [c, n2 - c]])
    if (table.sum(axis=0) == 0).any():
        return 0.0, 0.0
    g = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    (a, b), (c, d) = table + 0.5
    return sign * np.sqrt(g), np.log(a * d / (b * c))


def slow_word(words, x, inside, outside):
    one, two = words[inside].sum(), words[outside].sum()
    if not one or not two:
        return 0.0, 0.0
    a, c = x[inside].sum(), x[outside].sum()
    return slow_table(a, one, c, two, np.sign(a / one - c / two))


@pytest.mark.parametrize("width", [1, 4, 9])
def test_statistics_and_effects_are_those_of_the_definition(width):
    """Whatever the width of the blocks."""
    rng = np.random.default_rng(0)
    for seed in range(3):
        tree = small_tree(seed, n=30)
        X, words = mixed_data(tree, rng)
        blocks = [X[:, i : i + width] for i in range(0, X.shape[1], width)]
        found = node_features(tree, lambda blocks=blocks: iter(blocks), words)
        assert found.kinds.tolist() == [NUMBER] * 3 + [SHARE] * 2 + [WORD] * 4
        for node in range(1, tree.n_nodes):
            for i, against in enumerate(("siblings", "rest")):
                wanted = slow(tree, X, words, node, against)
                place = (i, found.group_of[node])
                columns = found.columns[place]
                told = columns >= 0
                for name, part in enumerate((found.statistic, found.effect)):
                    expected = [wanted[j][name] for j in columns[told]]
                    np.testing.assert_allclose(part[place][told], expected, atol=2e-4)
                left_out = set(range(len(words))) - set(columns[told].tolist())
                assert all(abs(wanted[j][0]) < 2e-3 for j in left_out)
                size = found.statistic[place]
                telling = (np.abs(size) - (size < 0))[told]  # what rows lack counts 1 less
                assert (np.diff(telling) <= 1e-3).all()
                assert not told[np.argmin(told) :].any() or told.all()


def test_means_inside_and_outside():
    tree = small_tree(1, n=30)
    X, words = mixed_data(tree, np.random.default_rng(1))
    found = node_features(tree, lambda: iter([X]), words)
    rows = np.isin(np.arange(30), tree.members(1))
    for place, j in enumerate(found.columns[1, found.group_of[1]].tolist()):
        parts = (found.inside, found.outside)
        for part, those in zip(parts, (rows, ~rows), strict=True):
            mean = np.nanmean(X[those, j])
            if words[j]:
                mean = X[those, j].sum() / X[np.ix_(those, words)].sum()
            np.testing.assert_allclose(part[1, found.group_of[1], place], mean, rtol=1e-5)


def test_few_features_of_many_are_kept():
    rng = np.random.default_rng(2)
    tree = Tree.from_parents([-1, 0, 0], [1] * 20 + [2] * 20)
    X = rng.normal(size=(40, 500))
    X[:20, 321] += 5
    found = node_features(
        tree, lambda: (X[:, i : i + 100] for i in range(0, 500, 100)), [False] * 500
    )
    assert found.columns.shape == (2, 3, 20)
    for node, sign in ((1, 1), (2, -1)):
        group = found.group_of[node]
        assert (found.columns[:, group, 0] == 321).all()
        assert (np.sign(found.statistic[:, group, 0]) == sign).all()
    first = np.arange(40) < 20
    size = np.array([slow_column(x, first, ~first)[0] for x in X.T])
    ranked = np.argsort(-(np.abs(size) - (size < 0)))[:20]  # what rows lack counts 1 less
    assert found.columns[0, found.group_of[1]].tolist() == ranked.tolist()
    assert (found.columns[:, found.group_of[0]] == -1).all()  # the root has no others


def test_a_node_of_few_rows_needs_more_than_an_extreme_mean():
    """One row 3 deviations out against forty rows that are 1.5 deviations apart."""
    rng = np.random.default_rng(3)
    tree = Tree.from_parents([-1, 0, 0, 1, 1], [3] * 40 + [4] + [2] * 40)
    X = rng.normal(size=(81, 1))
    X[:40] += 1.5
    X[40] = X.mean() + 3 * X.std()
    found = node_features(tree, lambda: iter([X]), [False])
    small, large = (found.statistic[1, found.group_of[node], 0] for node in (4, 3))
    assert abs(small) < 4 < abs(large)


def test_a_mean_that_is_0_but_for_rounding_is_0():
    """0 inside, 2, 4 or 8 outside: centring and back leaves 1e-16 of some zeros."""
    tree = Tree.from_parents([-1, 0, 0], [1] * 14 + [2] * 87)
    node, outside = tree.paths[0, 1], np.random.default_rng(0).choice([2.0, 4.0, 8.0], (87, 20))
    X = np.vstack([np.zeros((14, 20)), outside])
    middle, scale = X.mean(axis=0), np.abs(X - X.mean(axis=0)).max(axis=0)
    one = ((X[:14] - middle) / scale).cumsum(axis=0)[-1] / 14
    assert (one * scale + middle != 0).any()  # so the test can fail
    for unit in (1.0, 1e-20, 1e20):
        found = node_features(tree, lambda unit=unit: iter([unit * X]), [False] * 20)
        place = (1, found.group_of[node])
        assert (found.inside[place] == 0).all()
        means = unit * outside.mean(axis=0)[found.columns[place]]
        np.testing.assert_allclose(found.outside[place], means, rtol=1e-12)


def test_a_difference_that_is_rounding_sets_no_node_apart():
    """Columns whose means differ in the last digit: equal entries, added up in another order."""
    tree = Tree.from_parents([-1, 0, 0], [1] * 30 + [2] * 60)
    rng = np.random.default_rng(0)
    half = rng.normal(size=(30, 40)) + 0.1
    X = np.vstack([half, half[::-1], rng.permutation(half)])
    found = node_features(tree, lambda: iter([X]), [False] * 40)
    assert np.abs(X[:30].mean(axis=0) - X[30:].mean(axis=0)).max() > 0  # so the test can fail
    assert (found.columns == -1).all()
    assert (found.effect == 0).all()


def test_what_rows_have_comes_before_what_they_lack_if_both_tell_about_the_same():
    """Of 14 rows 13 have fins and none breathes; a much better absence still comes first."""
    tree = Tree.from_parents([-1, 0, 0], [1] * 14 + [2] * 87)
    X = np.zeros((101, 3))
    X[:13, 0] = X[14:18, 0] = 1  # fins
    X[14:94, 1] = 1  # breathes
    X[14:101, 2] = 1  # in all other rows and in none of these
    for columns, order in (([0, 1], [0, 1]), ([1, 0], [1, 0]), ([0, 1, 2], [2, 0, 1])):
        found = node_features(
            tree, lambda columns=columns: iter([X[:, columns]]), [False] * len(columns)
        )
        place = (1, found.group_of[tree.paths[0, 1]])
        assert found.columns[place].tolist() == order
    sizes = np.abs(found.statistic[place])
    assert sizes[2] > sizes[1] > sizes[2] - 1


def test_what_rows_lack_is_kept_where_it_tells_little():
    """It is no worse than an empty place, and many features are sorted as few are."""
    rng = np.random.default_rng(0)
    tree = Tree.from_parents([-1, 0, 0], [1] * 210 + [2] * 190)
    X = (rng.random((400, 100)) < rng.random(100)).astype(float)
    every = node_features(tree, lambda: iter([X]), [False] * 100)
    by_one = node_features(tree, lambda: (X[:, [j]] for j in range(100)), [False] * 100)
    np.testing.assert_array_equal(every.columns, by_one.columns)
    few = node_features(tree, lambda: iter([X[:, :10]]), [False] * 10)
    told = few.statistic[1, few.group_of[1]]
    assert (few.columns[1, few.group_of[1]] >= 0).sum() == (told != 0).sum() >= 9
    assert ((told < 0) & (told > -1)).any()
