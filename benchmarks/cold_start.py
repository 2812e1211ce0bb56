"""CPU seconds of imports and of a first fit in this process; run by `benchmarks.bench`."""

import json
import time


def main() -> None:
    """Print {"imports", "fit", "beyond"}; `beyond` is all but the imports of the four libraries."""
    import numba  # noqa: F401
    import numpy  # noqa: F401
    import scipy.linalg
    import scipy.special  # noqa: F401
    import sklearn.base
    import sklearn.utils.parallel
    import sklearn.utils.validation  # noqa: F401

    imports = time.process_time()
    import bhmc

    X = bhmc.datasets.load_zoo().data
    start = time.process_time()
    bhmc.BHMC(transition="hdp", n_draws=300, random_state=0).fit(X)
    end = time.process_time()
    print(json.dumps({"imports": imports, "fit": end - start, "beyond": end - imports}))


if __name__ == "__main__":
    main()
