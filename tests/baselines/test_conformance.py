"""scikit-learn's own checks over every baseline."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bhmc.baselines import Ward


@parametrize_with_checks([Ward(n_clusters=3)])
def test_scikit_learn(estimator, check):
    check(estimator)
