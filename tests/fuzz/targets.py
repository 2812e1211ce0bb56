"""Every reader of files: its first files, how it is called, and what it may raise."""

import io
import json
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bhmc import BHMC, Tree
from bhmc._estimator.checkpoint import SavedChain
from bhmc._estimator.resuming import check_recorded, resumed_chain
from bhmc._io.archive import FileFormatError, read
from bhmc._io.tables.read import Reading, read_table
from bhmc._search.book import _parsed
from bhmc._validation.errors import RefusedError
from bhmc.posterior.draws import Draws
from bhmc.posterior.retention import Plan
from bhmc.rows import open_rows
from bhmc.rows.local import LocalRows
from tests.fuzz.limits import TooSlowError
from tests.io import forging
from tests.io import saving_values as values

X = np.repeat([-3.0, 3.0], 6)[:, None] + np.linspace(0, 1, 12)[:, None]


class Target(NamedTuple):
    """A reader."""

    ending: str
    """How names of its files end."""
    firsts: Callable[[], list[bytes]]
    """Files to begin with."""
    call: Callable[[Path], Any]
    """Read a file."""
    may_raise: tuple[type[Exception], ...]
    """A refusal."""
    is_limited: bool = True
    """Whether memory is; not where a child of its own reads."""


def run(target: Target, path: Path) -> bool:
    """Whether the reader took the file; what it may not raise goes on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.call(path)
        except target.may_raise as error:
            said = str(error).strip()
        else:
            return True
    if "\n" in said:
        raise AssertionError(f"a refusal is one line: {said}")
    return False


def _quietly(call: Callable[[], Any]) -> None:
    """What is done with what was read: errors of Python are no harm, all else is."""
    with np.errstate(all="ignore"):
        try:
            call()
        except (MemoryError, TooSlowError):
            raise
        except Exception:
            return


def written(write: Callable[[Path], Any], name: str = "x") -> bytes:
    """What `write` writes."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


# ---- Files of bhmc ----


def _model(path: Path) -> None:
    model = BHMC.load(path)
    for name in ("predict", "predict_proba", "score_samples"):
        _quietly(lambda name=name: getattr(model, name)(X[:3]))


def _draws(path: Path) -> None:
    draws = Draws.load(path)
    _quietly(lambda: draws.paths)


def _tree(path: Path) -> None:
    tree = Tree.load(path)
    for name in ("to_newick", "to_json", "to_linkage"):
        _quietly(lambda name=name: getattr(tree, name)())


@cache
def _fitted() -> BHMC:
    settings = {"n_warmup": 3, "n_draws": 3, "n_chains": 1, "random_state": 0, "n_levels": 2}
    return _silently(BHMC(likelihood="shared_gaussian", **settings))


def _silently(model: BHMC) -> BHMC:
    """Fitted; so few draws have not converged, which is said otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


@cache
def _chain(name: str) -> forging.Captured:
    return forging.captured(name, "gibbs")


def _checkpoints() -> list[bytes]:
    found = []
    for name in ("hdp", "diffused"):
        with tempfile.TemporaryDirectory() as folder:
            model = BHMC(**_fitted().get_params()).set_params(transition=name)
            _silently(model.set_params(checkpoint=f"{folder}/chain"))
            found.append((Path(folder) / "chain.0").read_bytes())
    return found


@cache
def _families() -> dict[str, Any]:
    from bhmc.likelihoods import SharedGaussian

    return {"family": SharedGaussian().prepare(X)}


def _checkpoint(path: Path) -> None:
    contents = read(path, "checkpoint")
    fit = contents.get("fit") if isinstance(contents, dict) else None
    if not isinstance(fit, dict):
        return
    Path(f"{path}.0").write_bytes(path.read_bytes())
    saved = SavedChain(path, 0, fit, Plan()).read()
    if saved is None or saved.captured is None:
        return
    forest = isinstance(saved.captured, dict) and "forest" in saved.captured
    transition = _chain("diffused" if forest else "hdp").transition
    rows = LocalRows(_families()["family"])
    chain = resumed_chain(transition, saved.captured, rows, 2, "gibbs", saved.rng)
    check_recorded(saved.recorder, chain)
    with np.errstate(all="ignore"):
        _quietly(lambda: (chain.sweep(), chain.sweep(), chain.state()))


# ---- Tables ----


def _table(path: Path) -> None:
    for reading in (Reading(), Reading(no_id=True, header=False)):
        read_table(str(path), reading)


def _rows(path: Path) -> None:
    source = open_rows(path)
    source.read(slice(0, min(source.shape[0], 100)))


TEXT = b"animal,legs,mass\nAnt,6,0.5\nBee,6,\nCow,4,1e3\n"


def _gzipped() -> list[bytes]:
    import gzip

    return [gzip.compress(TEXT), gzip.compress(TEXT * 50)]


def _matrices() -> list[bytes]:
    head = b"%%MatrixMarket matrix coordinate real general\n%\n3 2 2\n1 1 1.5\n2 2 -2.5E-3\n"
    dense = b"%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n"
    return [head, dense]


def _npys() -> list[bytes]:
    arrays = (np.eye(3), np.arange(6).reshape(3, 2), np.asfortranarray(np.ones((2, 3), "f4")))
    return [written(lambda path, a=a: np.save(path, a), "a.npy") for a in arrays]


def _npzs() -> list[bytes]:
    return [
        written(lambda path: np.savez(path, X=np.eye(3)), "a.npz"),
        written(lambda path: np.savez_compressed(path, X=np.zeros((9, 9))), "a.npz"),
        written(lambda path: sparse.save_npz(path, sparse.csr_array(np.eye(3))), "a.npz"),
        written(lambda path: sparse.save_npz(path, sparse.coo_array(np.eye(3))), "a.npz"),
    ]


def _parquets() -> list[bytes]:
    import polars

    frame = polars.DataFrame({"x": [1.5, 2.5, None] * 9, "n": [1, 2, 3] * 9})
    text = frame.with_columns(polars.Series("t", ["a", "b", "c"] * 9))
    return [written(one.write_parquet, "a.parquet") for one in (frame, text)]


def _sheets() -> list[bytes]:
    from tests.io.awkward_tables import TABLES, write

    with tempfile.TemporaryDirectory() as folder:
        books = [one for one in TABLES if one.name.endswith((".xlsx", ".ods"))]
        return [Path(write(Path(folder), one)).read_bytes() for one in books[:2]]


# ---- Texts ----


def _from_json(path: Path) -> None:
    Tree.from_json(path.read_bytes().decode("utf-8", "replace"))


def _book(path: Path) -> None:
    path.read_text("utf-8")
    _parsed(path)


def _books() -> list[bytes]:
    line = json.dumps({"format": "bhmc search 1", "settings": {}})
    return [f"{line}\n{json.dumps({'number': 0, 'score': 1.5})}\n".encode()]


_FILES = (FileFormatError, FileNotFoundError)
_ROWS = (ValueError, TypeError, OSError)
_REFUSED = (RefusedError,)

TARGETS = {
    "tree": Target("bhmc", lambda: [written(values.full_tree().save)], _tree, _FILES),
    "draws": Target("bhmc", lambda: [written(values.small_draws().save)], _draws, _FILES),
    "model": Target("bhmc", lambda: [written(_fitted().save)], _model, _FILES),
    "checkpoint": Target("bhmc", _checkpoints, _checkpoint, (ValueError,)),
    "csv": Target("csv", lambda: [TEXT, TEXT.replace(b",", b";")], _table, _REFUSED),
    "gz": Target("csv.gz", _gzipped, _table, _REFUSED),
    "mtx": Target("mtx", _matrices, _table, _REFUSED),
    "npy": Target("npy", _npys, _table, _REFUSED),
    "npz": Target("npz", _npzs, _table, _REFUSED),
    "parquet": Target("parquet", _parquets, _table, _REFUSED, is_limited=False),
    "xlsx": Target("xlsx", _sheets, _table, _REFUSED, is_limited=False),
    "rows_npy": Target("npy", _npys, _rows, _ROWS),
    "rows_parquet": Target("parquet", lambda: _parquets()[:1], _rows, _ROWS, is_limited=False),
    "tree_json": Target(
        "json", lambda: [values.full_tree().to_json().encode()], _from_json, (ValueError,)
    ),
    "book": Target("jsonl", _books, _book, (ValueError,)),
}


def is_archive(data: bytes) -> bool:
    """Whether checksums have to be made anew."""
    return zipfile.is_zipfile(io.BytesIO(data))
