"""`plot_prior_posterior`: priors against draws."""

import numpy as np
import pytest
from scipy import stats

import bhmc
from bhmc import plotting, priors
from tests.plotting.pictures import part


def test_priors_against_draws(model):
    panels = {panel.name: panel for panel in plotting.prior_posterior_data(model)}
    assert list(panels) == ["alpha", "gamma0", "n_components", "nodes_at[1]", "nodes_at[2]"]
    for name, shape, rate in (("alpha", 2, 10), ("gamma0", 3, 2)):
        panel = panels[name]
        np.testing.assert_array_equal(panel.draws, getattr(model.draws_, name))
        expected = stats.gamma.pdf(panel.x, shape, scale=1 / rate)
        np.testing.assert_allclose(panel.density, expected)
        assert panel.x[-1] >= panel.draws.max()
    prior = bhmc.describe_prior(
        30, n_levels=2, gamma0=priors.Gamma(3, 2), gamma=0.5, n_samples=100, random_state=0
    )
    for name, what in (("n_components", "components"), ("nodes_at[2]", "nodes at level 2")):
        panel, line = panels[name], prior[what]
        np.testing.assert_array_equal(panel.draws, model.draws_.numbers()[name])
        assert (panel.prior_mean, panel.prior_interval) == (line.mean, (line.low, line.high))


def test_the_picture_of_priors_is_their_numbers(model):
    panels = plotting.prior_posterior_data(model)
    axes = plotting.plot_prior_posterior(model)
    assert [ax.get_title() for ax in axes] == [panel.name for panel in panels]
    for ax, panel in zip(axes, panels, strict=True):
        counts, edges, _ = part(ax, "posterior").get_data()
        held, _ = np.histogram(panel.draws, edges)
        assert held.sum() == panel.draws.size  # none is left out
        np.testing.assert_allclose(counts * np.diff(edges), held / held.sum())
        if panel.density is not None:
            np.testing.assert_array_equal(part(ax, "prior").get_xydata()[:, 1], panel.density)
        else:
            assert part(ax, "prior mean").get_xdata()[0] == panel.prior_mean
            box = part(ax, "prior interval").get_extents().transformed(ax.transData.inverted())
            np.testing.assert_allclose((box.x0, box.x1), panel.prior_interval)


def test_priors_of_the_paper_and_fixed_ones(model):
    model.set_params(hyper="paper", gamma0="learn", gamma="learn")
    panel = plotting.prior_posterior_data(model, max_rows=10)[2]
    assert panel.name == "gamma"
    np.testing.assert_allclose(panel.density, np.where(panel.x <= 1.5, 1 / 1.5, 0))
    model.set_params(hyper="exact", alpha=1.0, gamma0=1.0, gamma=1.0)
    with pytest.raises(ValueError, match="there is nothing to compare"):
        plotting.plot_prior_posterior(model, max_rows=10)
    assert len(plotting.plot_prior_posterior(model)) == 3
    model.set_params(fixed_components=4)
    assert len(plotting.plot_prior_posterior(model)) == 2  # the number of components is given


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_priors_of_a_diffusing_tree():
    """Its own concentrations and words; components have another law there, and nodes the same."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    quick = {"n_levels": 2, "n_warmup": 3, "n_draws": 5, "n_chains": 1, "random_state": 0}
    model = bhmc.BHMC(alpha="learn", **quick).fit(X)
    panels = plotting.prior_posterior_data(model)
    assert [panel.name for panel in panels] == ["alpha", "nodes_at[1]", "nodes_at[2]"]
    model = bhmc.BHMC(**quick).fit(X)
    panels = plotting.prior_posterior_data(model)
    assert [panel.name for panel in panels] == ["nodes_at[1]", "nodes_at[2]"]
    assert panels[0].prior_mean == pytest.approx(sum(0.005 / (0.005 + i) for i in range(20)))
