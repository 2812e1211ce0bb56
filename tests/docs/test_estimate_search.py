"""The verdict of `benchmarks.estimate_search`, and that it runs for the default transition."""

import numpy as np
from benchmarks import estimate_search
from benchmarks.estimate_search import checks, main


def fit(data, draw, search, tree):
    return {"data": data, "seed": 0, "draw": draw, "search": search, "tree_": tree}


def test_no_data_set_may_lose_and_half_must_gain():
    found = [fit("zoo", 1.0, 0.9, 0.9), fit("iris", 1.0, 1.0, 1.1), fit("wine", 1.0, 1.0, 0.9)]
    no_worse, nearer, tree, trees = checks(found)
    assert no_worse.ok == [True, True, True]
    assert (nearer.values, nearer.ok) == ([1 / 3], [False])
    assert tree.ok == [True, False, True]
    assert trees.ok == [True]


def test_the_worst_seed_of_a_data_set_counts():
    found = [fit("zoo", 1.0, 0.9, 0.9), fit("zoo", 1.0, 1.2, 0.8)]
    no_worse, nearer, *_ = checks(found)
    assert (no_worse.ok, nearer.ok) == ([False], [False])
    assert str(no_worse).split()[-1] == "MISSED"


def test_it_runs_for_the_default_transition(monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [2.0, 0.0], [9.0, 9.0]], 12, axis=0) + rng.normal(0, 0.6, (36, 2))
    monkeypatch.setitem(estimate_search.TABLES, "iris", lambda: (X, None))
    monkeypatch.setattr(estimate_search, "warmup", lambda: None)
    seen, compare = [], estimate_search.compare

    def watched(name, model, seed):
        seen.append((type(model.transition_).__name__, compare(name, model, seed)))
        return seen[-1][1]

    monkeypatch.setattr(estimate_search, "compare", watched)
    main(["iris", "--n_warmup", "20", "--n_draws", "30"])
    ((transition, found),) = seen
    assert transition == "Diffused"
    assert found["search"] <= found["draw"]
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("iris      seed 0  VI ")
    assert printed[1].split()[-1] == "ok"
    assert len(printed) == 5
