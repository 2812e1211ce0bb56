"""Digests of some cases: hashes of whole numbers, and floats. A test needs no older code then."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from studies.same_draws.cases import cases, run
from studies.same_draws.data import FAMILIES
from studies.same_draws.fits import SAMPLERS, Fields, forms_of

_WHOLE = ("draws.paths", "draws.components", "last.paths", "last.components")
_REAL = (
    *("draws.log_joint", "draws.log_likelihood", "draws.alpha", "draws.gamma0", "draws.gamma"),
    *("tree.theta", "tree.shared", "trace", "next_random"),
)

# At most so many floats of a field are kept, the last ones: they depend on all before.
_MOST_FLOATS = 12

RELATIVE = 1e-9
"""How far floats may be apart, as a share of the largest of their field."""

Digest = dict[str, str | list[float]]


def digested_names() -> list[str]:
    """Return the cases with a digest: every sampler and family once, forms in turn."""
    names = []
    for i, family in enumerate(FAMILIES):
        for j, sampler in enumerate(SAMPLERS):
            forms = forms_of(sampler)
            form = forms[(i + j) % len(forms)]
            what = "sweep" if (i + j) % 4 == 3 and not form.endswith("walk") else "fit"
            names.append(f"{what}/{family}/{sampler}/{form}")
    return names


def digests() -> dict[str, Digest]:
    """Run the cases with a digest; return hashes of their draws and some of their floats."""
    known = cases()
    return {name: digest(run(name, known[name])) for name in digested_names()}


def digest(fields: Fields) -> Digest:
    """Return a hash of the paths and components, and floats as a list for each field."""
    if "error" in fields:
        return {"error": str(fields["error"])}
    whole = hashlib.sha256()
    for name in _WHOLE:
        if name in fields:
            whole.update(str(fields[name].shape).encode())
            whole.update(np.ascontiguousarray(fields[name], dtype="<i8").tobytes())
    found: Digest = {"draws": whole.hexdigest()}
    for name in _REAL:
        if name in fields and fields[name].size:
            found[name] = np.ravel(fields[name]).tolist()[-_MOST_FLOATS:]
    return found


def differing(expected: Mapping[str, Digest], found: Mapping[str, Digest]) -> list[str]:
    """Return a line for each case and field that is not the same in both."""
    lines = []
    for name in sorted({*expected, *found}):
        old, new = expected.get(name, {}), found.get(name, {})
        unlike = [field for field in {**old, **new} if not _alike(old.get(field), new.get(field))]
        lines += [f"{name}: {field}" for field in unlike]
    return lines


def write_digests(path: Path) -> None:
    """Write the digests of the `bhmc` in the path as JSON, a line a case."""
    rows = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in digests().items()]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def _alike(old, new) -> bool:
    """Return whether two hashes are equal, or two lists of floats nearly so."""
    if not (isinstance(old, list) and isinstance(new, list)):
        return old == new
    if len(old) != len(new):
        return False
    scale = np.max(np.abs(old), initial=1e-300, where=np.isfinite(old))
    return np.allclose(new, old, rtol=RELATIVE, atol=RELATIVE * scale, equal_nan=True)
