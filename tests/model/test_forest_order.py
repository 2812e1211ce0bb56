"""Nodes and atoms are put in order in place, and steps listed: NumPy says the same."""

import numpy as np
import pytest

from bhmc.model.diffused import kernels, reference
from bhmc.model.diffused.forest import Forest
from bhmc.model.diffused.locations import steps_of
from tests.model.test_diffused_twin import PLAIN, SHAPES, forest_of

OF_ATOMS = ("count", "theta", "precision", "linear")
ENGINES = pytest.mark.parametrize("engine", [kernels, PLAIN], ids=["compiled", "plain"])


def shuffled(seed: int, shape: tuple) -> Forest:
    """A tree whose nodes but the root, and whose atoms, have other slots, with holes between."""
    forest, rng = forest_of(seed, *shape), np.random.default_rng(seed)
    (m, k), n_nodes, n_atoms = forest.used, len(forest.level), len(forest.leaf)
    node = np.concatenate([[0], 1 + rng.permutation(n_nodes - 1)])
    atom = rng.permutation(n_atoms)
    made = forest._replace(**{name: np.array(part) for name, part in forest._asdict().items()})
    for name in ("parent", "level", "rows", "location"):
        getattr(made, name)[node] = getattr(forest, name)
    for name in ("leaf", *OF_ATOMS):
        getattr(made, name)[atom] = getattr(forest, name)
    for links in (made.parent, made.leaf):
        links[links >= 0] = node[links[links >= 0]]
    made.used[:] = node[:m].max() + 1, atom[:k].max() + 1
    return made


def ordered(forest: Forest) -> tuple[dict, np.ndarray]:
    """What `put_in_order` is to make of a forest, and the new slots of atoms: by NumPy."""
    nodes, atoms = reference._nodes(forest), reference._atoms(forest)
    nodes = nodes[np.argsort(forest.level[nodes], kind="stable")]
    new_node, new_atom = np.full(len(forest.level) + 1, -1), np.full(len(forest.leaf), -1)
    new_node[nodes], new_atom[atoms] = np.arange(len(nodes)), np.arange(len(atoms))
    made = {name: getattr(forest, name)[nodes] for name in ("level", "rows", "location")}
    made |= {name: getattr(forest, name)[atoms] for name in OF_ATOMS}
    made |= {"parent": new_node[forest.parent[nodes]], "leaf": new_node[forest.leaf[atoms]]}
    return made, new_atom[: forest.used[1]]


@ENGINES
@pytest.mark.parametrize("shape", SHAPES)
def test_order_has_no_holes_and_parents_before_children(engine, shape):
    for seed in range(4):
        forest = shuffled(seed, shape)
        expected, slots = ordered(forest)
        new_atom = np.empty(forest.used[1], dtype=np.int64)
        engine.put_in_order(forest, new_atom)
        np.testing.assert_array_equal(new_atom, slots)
        assert engine.are_in_order(forest.level, forest.leaf, forest.used)
        assert forest.used.tolist() == [len(expected["level"]), len(expected["leaf"])]
        for name, value in expected.items():
            np.testing.assert_array_equal(getattr(forest, name)[: len(value)], value, name)
        free_nodes, free_atoms = slice(forest.used[0], None), slice(forest.used[1], None)
        assert (forest.level[free_nodes] == -1).all()
        assert (forest.leaf[free_atoms] == -1).all()


@ENGINES
@pytest.mark.parametrize("shape", SHAPES)
def test_steps_and_their_variances(engine, shape):
    for seed in range(4):
        forest = shuffled(seed, shape)
        nodes, atoms = reference._nodes(forest), reference._atoms(forest)
        above = np.where(
            forest.level[nodes, None] > 0, forest.location[forest.parent[nodes]], forest.origin
        )
        to_atoms = forest.theta[atoms] - forest.location[forest.leaf[atoms]]
        levels = np.concatenate([forest.level[nodes], np.full(len(atoms), forest.depth + 1)])
        steps, variances = steps_of(forest, engine)
        np.testing.assert_array_equal(steps, np.vstack([forest.location[nodes] - above, to_atoms]))
        np.testing.assert_array_equal(variances, forest.variance[levels][:, forest.column])
