"""Fits of the documents, kept in build/fits: a picture can be drawn again without its fit.

A fit is found again by its data, its settings and the version of bhmc. After a change of a sampler
delete the folder.
"""

import hashlib
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

import bhmc
from bhmc import BHMC
from bhmc._io.digest import digest_of_data

FOLDER = Path(__file__).parents[1] / "build" / "fits"


def cached_fit(name, X, folder=FOLDER, **settings):
    """`BHMC(**settings).fit(X)`, or the same fit from an earlier run.

    Whether chains agree is in `diagnostics_`; no warning says so.
    """
    key = repr((sorted(settings.items()), digest_of_data(X), bhmc.__version__))
    file = folder / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.bhmc"
    if file.exists():
        return BHMC.load(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BHMC(**settings).fit(X)
    folder.mkdir(parents=True, exist_ok=True)
    model.save(file)
    return model
