"""The transition of CONTRIBUTING.md: a folder of few files and one line in the registry."""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import bhmc
from bhmc import BHMC
from bhmc._cli import main
from bhmc.model.registry import TRANSITIONS
from bhmc.rows.local import LocalRows
from tests.exact.alarm import Z_LIMIT, rng_for, z_of

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```python\n# (dp/\w+\.py)\n(.*?)```", PAGE, re.DOTALL))
PRIOR = bhmc.priors.Gamma(2.0, 1.0)
LIKELIHOOD = bhmc.likelihoods.Gaussian(sigma2=0.5, mu0=0.3, sigma0=1.5)
SHORT = {"n_levels": 1, "transition": "dp", "n_warmup": 20, "n_draws": 30, "random_state": 0}


@pytest.fixture(scope="module", autouse=True)
def dp(tmp_path_factory):
    """The files as a package, and its line in the registry."""
    folder = tmp_path_factory.mktemp("transition")
    for name, source in {**FILES, "dp/__init__.py": ""}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(source, encoding="utf-8")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    TRANSITIONS["dp"] = "dp.setting:Dp"
    yield importlib.import_module("dp.sampler")
    del TRANSITIONS["dp"]
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == "dp"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def X():
    centres = np.repeat([[-4.0, 0.0], [0.0, 4.0], [4.0, 0.0]], 12, axis=0)
    return centres + np.random.default_rng(0).normal(0, 0.3, centres.shape)


@pytest.fixture(scope="module")
def model(X):
    return BHMC(**SHORT).fit(X)


def test_at_most_six_files():
    assert 1 < len(FILES) <= 6


def test_the_estimator_finds_the_groups(model, X):
    assert model.tree_.n_levels == 1
    groups = np.repeat(np.arange(3), 12)
    for labels in (model.component_labels_, model.predict_component(X)):
        assert bhmc.metrics.ari(groups, labels) == 1.0
    assert (model.labels_ == 0).all()


def test_draws_diagnostics_and_arviz(model):
    assert list(model.draws_.learned) == ["gamma0"]
    assert model.draws_.gamma0.shape == (2, 30)
    with pytest.raises(AttributeError, match="alpha"):
        _ = model.draws_.alpha
    assert "gamma0" in str(model.diagnostics_)
    assert "gamma0" in model.draws_.to_arviz()["posterior"]


def test_rows_not_seen(model, X):
    assert (model.predict(X) == 0).all()
    known, new = model.predict_proba(X, return_new=True)
    np.testing.assert_allclose(known, 1.0)
    np.testing.assert_array_equal(new, 0.0)
    assert model.score_samples(X).mean() > model.score_samples(X + 20).mean() + 10
    assert model.sample(5, random_state=0).shape == (5, 2)


def test_saved_and_loaded(model, X, tmp_path):
    model.save(tmp_path / "model.bhmc")
    again = BHMC.load(tmp_path / "model.bhmc")
    np.testing.assert_array_equal(again.draws_.gamma0, model.draws_.gamma0)
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))


def test_a_checkpoint_goes_on_bit_for_bit(X, tmp_path):
    whole = BHMC(**SHORT).fit(X)
    path = tmp_path / "chain"
    BHMC(**SHORT | {"n_draws": 11}, checkpoint=path).fit(X)
    resumed = BHMC(**SHORT, checkpoint=path).fit(X)
    np.testing.assert_array_equal(resumed.draws_.log_joint, whole.draws_.log_joint)


def test_the_command_line(X, tmp_path, capsys):
    table, run = tmp_path / "table.csv", tmp_path / "run"
    np.savetxt(table, X, delimiter=",", header="a,b", comments="")
    options = ["--transition", "dp", "--levels", "1", "--draws", "20", "--warmup", "10"]
    assert main(["fit", str(table), "--output", str(run), "--seed", "0", *options]) == 0
    assert main(["show", str(run)]) == 0
    assert "root" in capsys.readouterr().out
    assert list(BHMC.load(run / "model.bhmc").draws_.learned) == ["gamma0"]


def test_nothing_is_learned_after_the_papers_warmup(X):
    likelihood = bhmc.likelihoods.Gaussian(sigma2=bhmc.priors.Uniform(0.01, 5.0))
    settings = SHORT | {"likelihood": likelihood, "hyper": "paper", "n_chains": 1}
    draws = BHMC(**settings).fit(X).draws_
    assert len(np.unique(draws.shared)) == len(np.unique(draws.gamma0)) == 1


def test_a_state_of_another_transition_is_refused(X):
    hyper, rng = bhmc.Hyper(1.0, 1.0, 1.0), np.random.default_rng(0)
    settings = {"hyper": hyper, "likelihood": LIKELIHOOD, "rng": rng}
    state, Y = bhmc.sample_prior(6, n_levels=1, transition="dp", **settings)
    with pytest.raises(ValueError, match="the state is one of transition='dp', and 'hdp' was"):
        bhmc.sweep(state, Y, sampler="gibbs", **settings)
    with pytest.raises(ValueError, match="needs n_levels=1"):
        bhmc.sample_prior(6, n_levels=2, transition="dp", **settings)


def test_what_does_not_fit_together_is_refused(X):
    with pytest.raises(ValueError, match="needs n_levels=1"):
        BHMC(n_levels=2, transition="dp").fit(X)
    with pytest.raises(
        ValueError, match="sampler='mh' is not known; choose one of 'auto', 'gibbs'"
    ):
        BHMC(n_levels=1, transition="dp", sampler="mh").fit(X)
    with pytest.raises(ValueError, match="transition='pd' is not known; choose one of"):
        BHMC(transition="pd").fit(X)


# ---- The joint test ----


def statistics(state, X):
    """What is compared: components, gamma0, distances from the component's mean, and products."""
    counts, x = np.bincount(state.components), X[:, 0]
    gap = x - state.theta[state.components, 0]
    log_gamma0 = np.log(state.hyper.gamma0)
    values = [len(counts), (counts**2).sum(), log_gamma0, log_gamma0 * len(counts)]
    return np.array([*values, gap @ gap, state.theta.mean(), (state.theta**2).mean(), x @ x])


def largest_z(n_draws, engine=None):
    """The largest |z| between draws forwards and a chain of sweeps and new data."""
    rng, hyper = rng_for(95), bhmc.Hyper(1.0, PRIOR, 1.0)
    settings = {"likelihood": LIKELIHOOD, "rng": rng}
    transition = bhmc.model.registry.transition_named("dp").bind(hyper)

    def forwards():
        return bhmc.sample_prior(6, n_levels=1, hyper=hyper, transition="dp", **settings)

    exact = np.array([statistics(*forwards()) for _ in range(n_draws)])
    (state, X), found = forwards(), []
    for _ in range(n_draws):
        rows = LocalRows(LIKELIHOOD.prepare(X))
        chain = transition.sampler(state, rows, "gibbs", rng, engine)
        chain.sweep()
        state = chain.state()
        X = bhmc.sample_data(state, **settings)
        found.append(statistics(state, X))
    batches = np.array(found).reshape(50, -1, exact.shape[1]).mean(axis=1)
    errors = np.hypot(batches.std(axis=0, ddof=1) / np.sqrt(50), exact.std(axis=0) / n_draws**0.5)
    return np.abs(z_of(exact.mean(axis=0) - batches.mean(axis=0), errors)).max()


def test_forwards_and_backwards_agree():
    assert largest_z(1_000) < Z_LIMIT


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("np.append(self._counts(), self._hyper.gamma0)", "np.append(self._counts(), 1.0)"),
        ("            if k not in c:", "            if False:"),
    ],
    ids=["a new component without gamma0", "empty components stay"],
)
def test_mutants_are_rejected(line, wrong):
    source = FILES["dp/sampler.py"]
    assert source.count(line) == 1
    mutant = ModuleType("dp.mutant")
    mutant.__package__ = "dp"
    exec(source.replace(line, wrong), mutant.__dict__)
    with np.errstate(divide="ignore"):
        assert largest_z(1_000, mutant.DpSampler) > Z_LIMIT
