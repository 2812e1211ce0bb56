"""One-off studies by which defaults were chosen and claims were checked; no part of the suite."""

import benchmarks  # noqa: F401  (its filter of warnings)
