"""Settings for the whole suite; they must be made before SciPy is imported."""

import os

import pytest

# scikit-learn skips its array-API checks without this.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Statistical checks of the workers of a run with several (pytest -n).
_checks_of_workers = []


def _checks_made() -> int:
    from tests.exact import alarm

    return alarm.checks_made + sum(_checks_of_workers)


def pytest_terminal_summary(terminalreporter):
    """Say how many statistical checks were made, and how often chance alone would fail one."""
    from tests.exact import alarm

    made = _checks_made()
    if made:
        chance = 1 - (1 - alarm.P_LIMIT) ** made
        terminalreporter.write_line(
            f"{made} statistical checks; on fresh seeds, by chance alone, one of them "
            f"would fail in at most {chance:.0%} of runs"
            + (f"; MORE THAN THE {alarm.SUITE_CHECKS} ALLOWED" if alarm.over(made) else "")
        )


def pytest_sessionfinish(session, exitstatus):
    """Fail a run of the ordinary suite that makes more statistical checks than its rate allows."""
    from tests.exact import alarm

    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["checks_made"] = alarm.checks_made
        return
    ordinary = "not exact_long" in session.config.getoption("markexpr")
    if ordinary and exitstatus == 0 and alarm.over(_checks_made()):
        session.exitstatus = 1


def pytest_testnodedown(node, error):
    """Add up what the workers have checked."""
    _checks_of_workers.append(getattr(node, "workeroutput", {}).get("checks_made", 0))


# Tests of these rooms look at the trees that people get, and have the whole pilot chain.
_WHOLE_PILOTS = (
    "tests/docs/",
    "tests/model/test_resolution.py",
    *(f"tests/estimator/test_defaults.py::test_{name}" for name in ("the_", "five_", "missing_")),
    "tests/estimator/test_describe.py::test_zoo_with_the_default_transition",
)

# Tests of these rooms have numbers whose family held-out rows choose.
_PILOT_FAMILIES = ("tests/docs/", "tests/estimator/test_pilot_families.py")


@pytest.fixture(autouse=True, scope="module")
def one_family_of_numbers(request):
    """Pilot chains that choose a family would take longer than most fits; for fixtures, too."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.node.nodeid.startswith(_PILOT_FAMILIES):
            from bhmc._estimator import pilot_families

            patch.setattr(pilot_families, "_ROWS_A_NUMBER", 10**9)
        yield


@pytest.fixture(autouse=True)
def short_pilot(request, monkeypatch):
    """Fits of a few sweeps would spend most of their time on the pilot chain that chooses kappa."""
    if not request.node.nodeid.startswith(_WHOLE_PILOTS):
        from bhmc.model.diffused import resolution

        monkeypatch.setattr(resolution, "_LEAST_SWEEPS", 3)
        monkeypatch.setattr(resolution, "_MOST_SWEEPS", 3)


# Tests of these rooms look at the scores themselves, or at what pages show of them.
_WHOLE_SCORES = (
    "tests/docs/",
    "tests/posterior/test_outliers.py",
    "tests/likelihoods/test_heavy_tails.py",
)


@pytest.fixture(autouse=True)
def short_scores(request, monkeypatch):
    """Scores of unusual rows take a third of a short fit: there they are by 3 draws of 120 rows."""
    if not request.node.nodeid.startswith(_WHOLE_SCORES):
        from bhmc.posterior import outliers

        for name, short in (
            *(("_MOST_DRAWS", 3), ("_LEAST_DRAWS", 3)),
            *(("_NEW_ROWS", 120), ("_FEWEST_NEW_ROWS", 120)),
        ):
            monkeypatch.setattr(outliers, name, short)
