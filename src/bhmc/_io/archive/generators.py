"""NumPy's sources of random numbers, taken apart and put together to go on bit for bit."""

from typing import Any

import numpy as np

GENERATORS = (np.random.Generator, np.random.RandomState, np.random.SeedSequence)

_BIT_GENERATORS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}

# Words of a seed sequence, of its pool and of its key.
_MOST_WORDS = 128


def generator_contents(value: Any) -> dict[str, Any]:
    """What one of `GENERATORS` consists of, as plain values."""
    if isinstance(value, np.random.SeedSequence):
        return {
            "entropy": value.entropy,
            "spawn_key": list(value.spawn_key),
            "pool_size": value.pool_size,
            "n_children_spawned": value.n_children_spawned,
        }
    if isinstance(value, np.random.RandomState):
        return {"state": _checked_state(value.get_state(legacy=False))}
    # Without its seed sequence a generator goes on but cannot spawn children.
    seeds = value.bit_generator.seed_seq
    return {
        "state": _checked_state(value.bit_generator.state),
        "seed_sequence": seeds if type(seeds) is np.random.SeedSequence else None,
    }


def generator_of(name: str, values: dict[str, Any]) -> Any:
    """The source that `generator_contents` took apart."""
    if name == "SeedSequence":
        values["spawn_key"] = tuple(values["spawn_key"])
        _check_seeds(values)
        return np.random.SeedSequence(**values)
    state = _checked_state(values["state"])
    bits = _BIT_GENERATORS[state["bit_generator"]](values.get("seed_sequence") or 0)
    if name == "RandomState":
        source = np.random.RandomState(bits)
        source.set_state(state)
        return source
    bits.state = state
    return np.random.Generator(bits)


def _checked_state(state: Any) -> dict[str, Any]:
    name = state["bit_generator"]
    if name not in _BIT_GENERATORS:
        known = ", ".join(_BIT_GENERATORS)
        raise TypeError(f"a random generator {name!r} cannot be in a file, only one of {known}.")
    _check_place(state)
    return state


def _check_place(state: dict[str, Any]) -> None:
    """NumPy looks at no place in a buffer: it would read memory beyond."""
    inner = state["state"]
    places = {"MT19937": (inner.get("pos"), 624), "Philox": (state.get("buffer_pos"), 4)}
    place, beyond = places.get(state["bit_generator"], (0, 0))
    if not isinstance(place, int | np.integer) or not 0 <= place <= beyond:
        raise ValueError("a random generator in it is at a place that does not exist")


def _check_seeds(values: dict[str, Any]) -> None:
    """Time grows with the square of the pool, and with that of the length of a number."""
    entropy, key = values.get("entropy"), values["spawn_key"]
    words = [*(entropy if isinstance(entropy, list | tuple) else [entropy]), *key]
    sizes = [one.bit_length() for one in words if isinstance(one, int)]
    too_many = len(words) > _MOST_WORDS or sum(sizes) > 32 * _MOST_WORDS
    if values.get("pool_size", 4) > _MOST_WORDS or too_many:
        raise ValueError(f"a seed sequence in it has more than {_MOST_WORDS} words")
