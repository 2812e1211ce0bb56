"""`Gaussian` with a prior of sigma2: densities, the draw of sigma2, joint tests, wrong versions."""

import copy

import numpy as np
import pytest
from scipy import integrate

import bhmc
from bhmc.likelihoods import Gaussian, learned_noise
from bhmc.likelihoods.learned_noise import LearnedNoiseFamily, draw_between, draw_noise
from bhmc.priors import Beta, Gamma, InverseGamma, Uniform
from tests.exact import alarm, geweke
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.invariance import paired_z, prior_statistics, with_family
from tests.likelihoods.joint import assert_keeps_the_protocol

FULL = np.array([[1.5, 0.6], [0.6, 0.8]])
PRIORS = {
    "uniform": Uniform(0, 0.6),
    "uniform from above 0": Uniform(0.2, 0.5),
    "gamma": Gamma(3, 6),
    "beta": Beta(2, 3),
    "inverse gamma": InverseGamma(4, 2),
}
N_DRAWS = 600


class Setting(geweke.Setting):
    """Five data of two columns; statistics join sigma2 with what depends on it."""

    def __init__(self, prior, sigma0=FULL, family=LearnedNoiseFamily):
        super().__init__(n=5, n_levels=2)
        self.n_features = 2
        self.likelihood = with_family(Gaussian(sigma2=prior, mu0=0.3, sigma0=sigma0), family)

    def forward_key(self):
        return self._key()

    def statistics(self, state, X):
        log_s = np.log(state.shared[0])
        base = geweke.statistics(state, X)
        far = np.tanh(((X - state.theta[state.components]) ** 2).mean() / state.shared[0])
        named = dict(zip(geweke.STATISTICS, base, strict=True))
        joined = [
            log_s * named[name] for name in ("components", "pair shares leaf", "x times its theta")
        ]
        return np.concatenate([base, [log_s, log_s**2, far, far * log_s, *joined]])


@pytest.mark.parametrize(
    "sigma0", [1.5, np.array([1.5, 0.8]), FULL], ids=["number", "diagonal", "full"]
)
def test_densities_are_those_of_a_known_sigma2(sigma0):
    rng = rng_for(91)
    X = rng.integers(-3, 9, (8, 2)).astype(float)  # sums of eighths are exact
    theta = rng.normal(3.0, 1.0, (3, 2))
    known = Gaussian(sigma2=0.7, mu0=[0.3, -1.0], sigma0=sigma0)
    learned = Gaussian(sigma2=Uniform(0, 2), mu0=[0.3, -1.0], sigma0=sigma0)
    one, other = known.prepare(X), learned.prepare(X).at(np.array([0.7]))
    if np.ndim(sigma0) < 2:
        assert_keeps_the_protocol(other, theta)
    for name, arguments in (("log_table", (theta,)), ("log_prior", (theta,)), ("log_marginal", ())):
        values = [getattr(family, name)(*arguments) for family in (one, other)]
        np.testing.assert_allclose(*values, rtol=1e-11)
    if np.ndim(sigma0) < 2:  # a full one may be turned in another way: joint tests see its draws
        draws = [
            family.draw_theta(family.sums(np.arange(8) % 3, 4), rng_for(92))
            for family in (one, other)
        ]
        np.testing.assert_allclose(*draws, rtol=1e-10)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_log_joint_as_a_function_of_sigma2(prior):
    """log p(sigma2 | all else) from its definition, by differences of the log joint."""
    setting = Setting(prior)
    state, X = setting.prior_draw(rng_for(93))
    squares = ((X - state.theta[state.components]) ** 2).sum()
    values = np.array([0.25, 0.31, 0.44])
    log_joint = [
        bhmc.log_joint(
            state._replace(shared=np.array([s])),
            X,
            hyper=setting.hyper,
            likelihood=setting.likelihood,
        )
        for s in values
    ]
    expected = [prior.log_density(s) - X.size / 2 * np.log(s) - squares / (2 * s) for s in values]
    np.testing.assert_allclose(np.diff(log_joint), np.diff(expected), rtol=1e-9)


@pytest.mark.parametrize(
    ("shape", "scale", "low", "high"),
    [
        (3.0, 1.0, 1e-12, 0.6),  # most of the mass is inside
        (3.0, 20.0, 1e-12, 0.6),  # the mass is above: the draw is near `high`
        (40.0, 2.0, 0.2, 0.5),  # the mass is below: the draw is near `low`
        (2000.0, 900.0, 1e-12, 0.4),
    ],
)
def test_draw_between_inverts_the_distribution_function(shape, scale, low, high):
    def log_density(s):
        return -(shape + 1) * np.log(s) - scale / s

    peak = np.clip(scale / (shape + 1), low, high)
    width = 30 * peak / np.sqrt(shape)
    left, right = max(low, peak - width), min(high, peak + width)

    def mass(start, end):
        return integrate.quad(
            lambda s: np.exp(log_density(s) - log_density(peak)), start, end, limit=200
        )[0]

    for u in (0.01, 0.3, 0.5, 0.9, 0.999):
        s = draw_between(shape, scale, low, high, u)
        assert s is not None
        below = mass(left, s) / (mass(left, s) + mass(s, right))
        # In scale / s, from `high` down in the lower tail and up to it in the other: both ways
        # round u is as good as 1 - u.
        assert min(abs(below - u), abs(below - (1 - u))) < 1e-6


@pytest.mark.parametrize(("count", "squares"), [(2, 0.5), (1, 0.5), (4000, 1e6), (4000, 1e-3)])
def test_out_of_reach_a_slice_takes_over(count, squares):
    """Too few data for a proper inverse gamma, or ends in a far tail."""
    rng, low, high = rng_for(94), 0.01, 0.1
    assert draw_between(count / 2 - 1, squares / 2, low, high, 0.5) is None
    s = 0.05
    for _ in range(60):
        s = draw_noise(Uniform(low, high), count, squares, 1e-12, s, rng)
        assert low <= s <= high
    if count == 4000:
        assert abs(s - (high if squares > 1 else low)) < 1e-3


def _stages():
    """Rows do not see the prior of sigma2: with the other priors they are left to `make exact`."""
    for name, prior in PRIORS.items():
        for stage in ("redraw_theta", "redraw_data"):
            is_short = stage == "redraw_theta" or name == "uniform"
            marks = () if is_short else pytest.mark.exact_long
            yield pytest.param(prior, stage, marks=marks, id=f"{name}-{stage}")


@pytest.mark.parametrize(("prior", "stage"), list(_stages()))
def test_joint_law(prior, stage):
    z = paired_z(Setting(prior), "gibbs", stage, N_DRAWS, rng_for(95))
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
def test_whole_sweeps():
    """Geweke's test; the suite has both stages, by which wrong families show."""
    z = alarm.z_scores(
        prior_statistics(Setting(PRIORS["uniform"]), 1_200, rng_for(96)),
        geweke.from_sweeps(Setting(PRIORS["uniform"]), "gibbs", 1_200, rng_for(97)),
    )
    assert np.abs(z).max() < Z_LIMIT


class _NewRowsForgetTheNoise(LearnedNoiseFamily):
    def log_new(self):
        self._w = self._w / 10
        return super().log_new()


class _OneRowMore(LearnedNoiseFamily):
    def draw_shared(self, theta, sums, rng):
        wrong = copy.copy(self)
        wrong._n_all += 1
        return LearnedNoiseFamily.draw_shared(wrong, theta, sums, rng)


class _OldNoiseForTheta(LearnedNoiseFamily):
    def draw_theta(self, sums, rng):
        self._v = self._v * 2
        return super().draw_theta(sums, rng)


@pytest.mark.parametrize(
    ("family", "stage"),
    [
        (_NewRowsForgetTheNoise, "redraw_data"),
        (_OneRowMore, "redraw_theta"),
        (_OldNoiseForTheta, "redraw_theta"),
    ],
)
def test_wrong_families_are_rejected(family, stage, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    setting = Setting(PRIORS["uniform"], family=family)
    z = paired_z(setting, "gibbs", stage, 600, rng_for(98), until=Z_LIMIT)
    print(f"{family.__name__}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT


def test_a_uniform_prior_taken_for_one_of_the_logarithm_is_rejected(monkeypatch):
    """IG(N D / 2) in the place of IG(N D / 2 - 1)."""
    true = learned_noise.draw_between
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    monkeypatch.setattr(learned_noise, "draw_between", lambda shape, *rest: true(shape + 1, *rest))
    setting = Setting(PRIORS["uniform"])
    z = paired_z(setting, "gibbs", "redraw_theta", 800, rng_for(99), until=Z_LIMIT)
    print(f"|z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT


def test_start_is_allowed_by_the_prior():
    X = rng_for(100).normal(0.0, 1.0, (20, 3))
    assert Gaussian(sigma2=Uniform(0, 5)).prepare(X).start_shared()[0] == pytest.approx(
        0.2, rel=0.5
    )
    for prior in (Uniform(0, 0.001), Uniform(30, 40), Beta(2, 2)):
        start = Gaussian(sigma2=prior).prepare(100 * X).start_shared()
        assert prior.log_density(start[0]) > -np.inf


def test_refusals():
    likelihood = Gaussian(sigma2=Uniform(0, 1))
    with pytest.raises(TypeError, match="only once its sigma2 is known"):
        likelihood.sample_data(np.zeros((2, 1)), rng_for(1))
    with pytest.raises(ValueError, match="needs a sigma2 that is a number"):
        bhmc.BHMC(likelihood=likelihood, precision="float32").fit(np.eye(3))


def test_equal_rows_end_at_the_least_sigma2():
    """Their density has no bound; numbers stay finite."""
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0)
    model = bhmc.BHMC(
        n_levels=1,
        likelihood=Gaussian(sigma2=Uniform(0, 0.1)),
        n_chains=1,
        n_warmup=60,
        n_draws=5,
        random_state=0,
    ).fit(X)
    assert np.isfinite(model.draws_.log_likelihood).all()
    assert len(set(model.component_labels_)) == 2
