"""Draws as a DataTree of ArviZ."""

import sys

import numpy as np
import pytest

from bhmc.posterior.arviz import to_arviz
from bhmc.posterior.diagnostics import (
    diagnose,
)
from tests.posterior.draws_factory import make_draws
from tests.posterior.long_chains import long_draws, row_of

TOLERANCE = 1e-8


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
