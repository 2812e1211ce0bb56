"""Settings for the whole suite; they must be made before SciPy is imported."""

import os

# scikit-learn skips its array-API checks without this.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


def pytest_terminal_summary(terminalreporter):
    """Say how many statistical checks were made, and how often chance alone would fail one."""
    from tests.exact import alarm

    if alarm.checks_made:
        chance = 1 - (1 - alarm.P_LIMIT) ** alarm.checks_made
        terminalreporter.write_line(
            f"{alarm.checks_made} statistical checks; on fresh seeds, by chance alone, one of them "
            f"would fail in at most {chance:.0%} of runs"
            + (f"; MORE THAN THE {alarm.SUITE_CHECKS} ALLOWED" if alarm.over_budget() else "")
        )


def pytest_sessionfinish(session, exitstatus):
    """Fail a run of the ordinary suite that makes more statistical checks than its rate allows."""
    from tests.exact import alarm

    ordinary = session.config.getoption("markexpr") == "not exact_long"
    if ordinary and exitstatus == 0 and alarm.over_budget():
        session.exitstatus = 1
