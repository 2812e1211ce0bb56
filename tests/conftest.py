"""Settings for the whole suite; they must be made before SciPy is imported."""

import os

# scikit-learn skips its array-API checks without this.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
