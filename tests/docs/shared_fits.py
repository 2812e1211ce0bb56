"""One fit for all pages that show it: several begin with the same fit, and it takes half a minute.

A page finds the fit of an earlier page by its data and settings, as `docs/cached_fits.py` does.
The first page that asks for a fit makes it, in the same run of the tests: what a page shows is
compared with the sampler as it is now. Workers of `pytest -n` share the folder.
"""

import hashlib
import os
from pathlib import Path

from bhmc import BHMC
from bhmc._estimator import rounds
from bhmc._io.digest import digest_of_data
from bhmc.model.diffused.setting import Diffused
from bhmc.rows.sources import is_source

_FIT = BHMC.fit
# Values whose repr says all there is to say: only fits with no others are shared.
_PLAIN = (str, int, float, type(None))


def folder_of_run(tmp_path_factory) -> Path:
    """A folder of this run, the same for all workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "fits-of-pages"
    folder.mkdir(exist_ok=True)
    return folder


def share_fits(monkeypatch, folder: Path, *, whole: bool, brief: bool = False) -> None:
    """`BHMC.fit` looks in the folder first, and keeps what it fits there.

    The first fit of a page is what the page is about. Unless `whole`, later ones, which it is
    compared with, end after one round, whether or not their chains agree. If `brief`, all fits are
    a few sweeps at a fixed kappa: enough to see that a page runs, not to see what it shows.
    """
    fitted = []

    def fit(self, X, y=None):
        fitted.append(self)
        if brief:
            return _brief_fit(self, X)
        settings = self.get_params(deep=False)
        with monkeypatch.context() as patched:
            if len(fitted) > 1 and not whole:
                patched.setattr(rounds, "_MOST_SWEEPS", 0)
            if not all(isinstance(one, _PLAIN) for one in settings.values()):
                return _FIT(self, X, y)
            return _found_or_fitted(self, X, folder / f"{_key(settings, X)}.bhmc")

    monkeypatch.setattr(BHMC, "fit", fit)


def _brief_fit(model: BHMC, X) -> BHMC:
    settings = model.get_params(deep=False)
    brief = {"n_warmup": 2, "n_draws": 3, "n_chains": 1}
    if settings["transition"] == "auto" and settings["likelihood"] == "auto":
        brief["transition"] = Diffused(kappa=1.0)  # no pilot chains
    _FIT(model.set_params(**brief), X)
    return model.set_params(**settings)


def _found_or_fitted(model: BHMC, X, file: Path) -> BHMC:
    if file.exists():
        vars(model).update(vars(BHMC.load(file)))
        return model
    _FIT(model, X)
    written = file.with_suffix(f".{os.getpid()}")
    model.save(written)
    written.replace(file)  # another worker finds the whole file or none
    return model


def _key(settings: dict, X) -> str:
    names = [*map(str, X.index), *map(str, X.columns)] if hasattr(X, "columns") else []
    rows = X.read(slice(0, X.shape[0])) if is_source(X) else X
    key = repr((sorted(settings.items()), rounds._MOST_SWEEPS, names, digest_of_data(rows)))
    return hashlib.sha256(key.encode()).hexdigest()[:16]
