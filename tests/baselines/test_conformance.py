"""scikit-learn's own checks over every baseline, once for each class."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bhmc.baselines import PYDT, Perch, RandomTree, Ward

BLIND = {"check_clustering": "the control does not look at the data, so it finds no clusters"}


def expected_to_fail(estimator):
    return BLIND if isinstance(estimator, RandomTree) else {}


@parametrize_with_checks(
    [
        Perch(n_clusters=3),
        PYDT(n_clusters=3, n_warmup=1, n_draws=2, random_state=0),
        RandomTree(n_clusters=3, random_state=0),
        Ward(n_clusters=3),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learn(estimator, check):
    check(estimator)
