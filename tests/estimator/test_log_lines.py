"""Lines of `logging.getLogger("bhmc")`, and numbers under scikit-learn's names."""

import logging
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bhmc import BHMC
from bhmc._estimator import rounds

X = np.repeat([[-3.0], [3.0]], 6, axis=0) + np.random.default_rng(0).normal(size=(12, 1)) / 5
QUICK = {"n_levels": 1, "n_chains": 2, "random_state": 0}


def lines_of(caplog, **settings):
    with caplog.at_level(logging.INFO, logger="bhmc"):
        model = BHMC(**QUICK, **settings).fit(X)
    assert {(record.name, record.levelname) for record in caplog.records} == {("bhmc", "INFO")}
    return model, caplog.messages


def test_a_fit_says_what_was_chosen_and_decided(caplog, monkeypatch):
    monkeypatch.setattr(rounds, "AUTO_DRAWS", 20)
    monkeypatch.setattr(rounds, "_MOST_SWEEPS", 200)
    model, lines = lines_of(caplog, n_warmup=10)
    kappa = f"{model.transition_.kappa:.3g}"
    assert lines[0] == (
        f"12 x 1 table: {model.likelihood_.describe()}; transition diffused, kappa {kappa}"
    )
    decisions = lines[1:-1]
    assert all(" sweeps of each chain: largest R-hat " in line for line in decisions)
    assert all("next decision after " in line for line in decisions[:-1])
    assert decisions[-1].startswith(f"{model.n_sweeps_} sweeps of each chain")
    assert decisions[-1].endswith(f"; ended by {model.ended_by_}")
    assert lines[-1].startswith(f"fit done: {model.n_sweeps_} sweeps of 2 chains, ended by ")


def test_a_fit_of_so_many_draws_decides_nothing(caplog):
    model, lines = lines_of(caplog, transition="hdp", n_warmup=3, n_draws=4)
    tree = model.tree_
    assert lines == [
        f"12 x 1 table: {model.likelihood_.describe()}; transition hdp",
        f"fit done: 7 sweeps of 2 chains, ended by n_draws; tree of {tree.n_nodes} nodes, "
        f"{tree.n_leaves} leaves, {tree.n_components} components",
    ]
    assert model.n_iter_ == model.n_sweeps_ == 7
    assert model.n_clusters_ == len(np.unique(model.labels_)) == tree.n_leaves
    np.testing.assert_array_equal(tree.leaves[model.labels_], model.paths_[:, -1])
    np.testing.assert_array_equal(tree.leaves[model.predict(X)], model.predict_path(X)[:, -1])


def test_nothing_is_shown_unasked():
    code = (
        "import logging, bhmc\n"
        "logging.getLogger('bhmc').warning('a line that nobody asked for')\n"
        "assert 'numpy' not in __import__('sys').modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""


@pytest.mark.parametrize("name", ["n_clusters_", "n_iter_"])
def test_numbers_of_a_model_that_is_not_fitted(name):
    with pytest.raises(NotFittedError):
        getattr(BHMC(), name)
    assert not hasattr(BHMC(), name)
