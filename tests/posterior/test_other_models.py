"""Recorder, draws, diagnostics, ArviZ, traces and files with a model that is not BHMC's."""

from dataclasses import replace

import numpy as np
import pytest

from bhmc.model.state import Partition
from bhmc.plotting import trace_data
from bhmc.posterior import Draws, Recorder, concat, diagnose
from bhmc.posterior.recorder import collect, collect_warmup
from bhmc.posterior.retention import Plan
from tests.posterior.draws_factory import make_draws, random_partition
from tests.posterior.other_models import UNEVEN, UnevenSampler

N_DRAWS = 40
NAMES = ["log_joint", "log_likelihood", "n_nodes", "c", "rate[0]", "rate[1]"]


@pytest.fixture(scope="module")
def recorders():
    found = []
    for seed in (1, 2):
        sampler, recorder = UnevenSampler(seed), Recorder(Plan(every_partition=True, state_step=0))
        for _ in range(N_DRAWS):
            sampler.sweep()
            recorder.on_warmup(sampler)
            recorder.on_draw(sampler)
        found.append(recorder)
    return found


@pytest.fixture(scope="module")
def draws(recorders):
    return collect(recorders)


def test_levels_and_sizes_of_any_tree():
    """Against a walk from every node and every row to the root."""
    rng = np.random.default_rng(0)
    for tree in (UNEVEN, *(random_partition(9, n_levels, rng) for n_levels in (1, 2, 4))):
        n_nodes = len(tree.parents)
        ancestors = [[z] for z in range(n_nodes)]
        for line in ancestors:
            while tree.parents[line[-1]] >= 0:
                line.append(int(tree.parents[line[-1]]))
        under = [sum(z in ancestors[leaf] for leaf in tree.leaf) for z in range(n_nodes)]
        np.testing.assert_array_equal(tree.levels, [len(line) - 1 for line in ancestors])
        sizes = tree.sizes()
        np.testing.assert_array_equal(sizes.nodes, under)
        np.testing.assert_array_equal(sizes.levels, tree.levels)
        assert sizes.even == (tree is not UNEVEN)


def test_numbers_are_those_of_the_model(draws):
    assert list(draws.numbers()) == NAMES
    np.testing.assert_array_equal(draws.log_joint, -6.0 - draws.learned["c"])
    np.testing.assert_array_equal(draws.numbers()["rate[1]"], draws.rate[:, :, 1])
    assert set(np.unique(draws.n_nodes)) == {4, 7}
    assert draws.nodes_at.shape == draws.entropy_at.shape == (2, N_DRAWS, 0)
    assert draws.together.shape == (2, N_DRAWS, 0)
    assert len(draws.partitions) == 2 * N_DRAWS
    assert draws.mixtures == ()


def test_a_hyperparameter_that_the_model_lacks(draws):
    with pytest.raises(AttributeError, match=r"^Draws has no 'alpha'; .* are: c, rate\.$"):
        _ = draws.alpha
    assert not hasattr(make_draws(), "c")
    assert make_draws().gamma0 is not None


def test_a_level_is_counted_where_all_draws_have_it():
    """Draws that all have even trees have levels."""
    sampler, recorder = UnevenSampler(0), Recorder()
    while len(recorder.rows) < 5:
        sampler.sweep()
        if sampler.partition() is not UNEVEN:
            recorder.on_draw(sampler)
    draws = collect([recorder])
    np.testing.assert_array_equal(draws.nodes_at, np.full((1, 5, 1), 3))
    share = np.array([2, 1, 2]) / 5
    np.testing.assert_allclose(draws.entropy_at, -(share * np.log(share)).sum())


def test_uneven_trees_have_no_levels():
    sampler, recorder = UnevenSampler(0), Recorder()
    while len(recorder.rows) < 5:
        sampler.sweep()
        if sampler.partition() is UNEVEN:
            recorder.on_draw(sampler)
    assert collect([recorder]).nodes_at.shape == (1, 5, 0)


def test_parts_and_sums(draws):
    np.testing.assert_array_equal(draws.thin(4).rate, draws.rate[:, 3::4])
    one = draws.chain(1)
    np.testing.assert_array_equal(one.c, draws.c[1:])
    np.testing.assert_array_equal(concat([draws, one]).rate, draws.rate[[0, 1, 1]])
    with pytest.raises(ValueError, match="concat needs fits of the same data"):
        concat([draws, draws.thin(2)])
    with pytest.raises(ValueError, match="concat needs fits of the same data"):
        concat([draws, replace(draws, learned={"c": draws.c})])
    with pytest.raises(ValueError, match="concat needs fits of the same data"):
        concat([draws, make_draws(n_draws=N_DRAWS)])
    with pytest.raises(ValueError, match="read-only"):
        draws.c[0, 0] = 1.0


def test_diagnostics_traces_and_arviz(draws):
    pytest.importorskip("arviz_base")
    table = diagnose(draws).table
    assert table["name"].tolist() == NAMES
    i = NAMES.index("rate[1]")
    assert table["mean"][i] == pytest.approx(draws.rate[:, :, 1].mean())
    names = [trace.name for trace in trace_data(draws)]
    assert names == ["log_joint", "c", "rate[0]", "rate[1]"]
    posterior = draws.chain(0).to_arviz()["posterior"]
    np.testing.assert_array_equal(posterior["rate"].values, draws.rate[:1])
    assert not {"together", "nodes_at", "shared"} & set(posterior)


def test_files(draws, tmp_path):
    draws.save(tmp_path / "d")
    again = Draws.load(tmp_path / "d")
    for name, values in draws.numbers().items():
        np.testing.assert_array_equal(again.numbers()[name], values)
    assert again.partitions[0].component.shape == (0,)


def test_a_recorder_resumes_from_its_contents(recorders, draws):
    again = [Recorder.from_contents(one.contents(), one.plan) for one in recorders]
    for name, values in collect(again).numbers().items():
        np.testing.assert_array_equal(values, draws.numbers()[name])
    np.testing.assert_array_equal(collect_warmup(again).rate, draws.rate)
    assert isinstance(again[0].best, Partition)
    assert again[0].best_value == recorders[0].best_value
