"""A product of families on a diffusing tree: the coordinates of its parts, side by side.

Every Gaussian part has a block of variances of its own, in units of its own noise. All parts of
logits have one block together.
"""

import copy
from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from bhmc.likelihoods._located import Located, NoiseUnits, TreePrior
from bhmc.likelihoods._protocol import Likelihood
from bhmc.likelihoods.blocks import Floats


def split(numbers: NDArray[Any], widths: list[int]) -> list[NDArray[Any]]:
    """The parts' shares of the last axis."""
    pieces, start = [], 0
    for width in widths:
        pieces.append(numbers[..., start : start + width])
        start += width
    if numbers.shape[-1] != start:
        raise ValueError(
            f"the parts of Product need {' + '.join(map(str, widths))} numbers, got "
            f"{numbers.shape[-1]}."
        )
    return pieces


def added(tables: Iterable[Floats]) -> Floats:
    """The sum of the parts' tables, in their order: a few large ones are not copied into one."""
    return reduce(np.add, tables)


def blocks_of_parts(priors: list[TreePrior]) -> list[NDArray[np.int64]]:
    """The blocks of the whole that are the blocks of each part; those without noise are one.

    Parameters
    ----------
    priors : list of TreePrior
        Those of the parts.
    """
    numbers: dict[Any, int] = {}
    return [
        np.array(
            [
                numbers.setdefault((i, j) if noise else float(spread), len(numbers))
                for j, (spread, noise) in enumerate(zip(prior.spread, prior.has_noise, strict=True))
            ]
        )
        for i, prior in enumerate(priors)
    ]


def joined_prior(priors: list[TreePrior]) -> TreePrior:
    """The prior of the whole from those of the parts.

    Parameters
    ----------
    priors : list of TreePrior
        Those of the parts.
    """
    blocks = np.concatenate(blocks_of_parts(priors))
    first = np.unique(blocks, return_index=True)[1]
    return TreePrior(
        np.concatenate([prior.origin for prior in priors]),
        np.concatenate([prior.spread for prior in priors])[first],
        np.concatenate([prior.has_noise for prior in priors])[first],
    )


class LikelihoodOfParts(Likelihood):
    """What `Product` adds to its parts' own laws on a tree."""

    @property
    @abstractmethod
    def families(self) -> list[Likelihood]:
        """The likelihoods of the parts."""

    @abstractmethod
    def _counts(self) -> list[int]:
        """How many columns each part has."""

    def noise_on_tree(self, shared: Floats, n_features: int) -> Floats:
        """Those of the parts; a matrix where one of them is."""
        each = [
            family.noise_on_tree(own, d)
            for (family, d), own in zip(self._pairs(), self._of_shared(shared), strict=True)
        ]
        if all(noise.ndim == 1 for noise in each):
            return np.concatenate(each)
        return block_diag(*(np.diag(noise) if noise.ndim == 1 else noise for noise in each))

    def blocks_on_tree(self, n_features: int) -> NDArray[np.int64]:
        """A block for every Gaussian part, one for all logits."""
        pairs = zip(self._pairs(), blocks_of_parts(self._priors()), strict=True)
        return np.concatenate([blocks[family.blocks_on_tree(d)] for (family, d), blocks in pairs])

    def prior_on_tree(self, n_features: int) -> TreePrior:
        """Those of the parts."""
        return joined_prior(self._priors())

    def sample_theta_at(
        self, locations: Floats, variances: Floats, shared: Floats, rng: np.random.Generator
    ) -> Floats:
        """Part by part."""
        priors = self._priors()
        places = split(locations, [len(prior.origin) for prior in priors])
        pieces = zip(
            self.families, places, blocks_of_parts(priors), self._of_shared(shared), strict=True
        )
        return np.hstack(
            [
                family.sample_theta_at(own, variances[:, blocks], numbers, rng)
                for family, own, blocks, numbers in pieces
            ]
        )

    def shared_on_tree(self, shared: Floats, root: Floats, total: Floats) -> Floats:
        """Part by part."""
        priors = self._priors()
        roots = split(root, [len(prior.origin) for prior in priors])
        pieces = zip(
            self.families, self._of_shared(shared), roots, blocks_of_parts(priors), strict=True
        )
        return np.concatenate(
            [family.shared_on_tree(own, at, total[blocks]) for family, own, at, blocks in pieces]
        )

    def _pairs(self) -> list[tuple[Likelihood, int]]:
        return list(zip(self.families, self._counts(), strict=True))

    def _priors(self) -> list[TreePrior]:
        return [family.prior_on_tree(d) for family, d in self._pairs()]

    def _of_shared(self, shared: Floats) -> list[Floats]:
        """The shared numbers of each part."""
        rng = np.random.default_rng(0)  # the numbers drawn are not used, only how many there are
        return split(shared, [len(family.sample_shared(d, rng)) for family, d in self._pairs()])


class FamilyOfParts(Located):
    """What `ProductFamily` is on a tree, where all its parts are `Located`."""

    _parts: list[Any]

    @abstractmethod
    def _of_theta(self, theta: Floats) -> list[Floats]:
        """The parameters of each part."""

    @abstractmethod
    def _of_statistics(self, numbers: NDArray[Any]) -> list[NDArray[Any]]:
        """The statistics of each part."""

    @property
    def latent(self) -> Floats:
        """(q,) those of the parts, one after the other."""
        return np.concatenate([part.latent for part in self._parts if part.has_latent])

    def given(self, latent: Floats) -> Self:
        """A copy whose parts hold their numbers (q,) of rows."""
        widths = [len(part.latent) if part.has_latent else 0 for part in self._parts]
        pairs = zip(self._parts, split(latent, widths), strict=True)
        family = copy.copy(self)
        family._parts = [part.given(own) if part.has_latent else part for part, own in pairs]
        return family

    def draw_latent(
        self, places: Floats, component: NDArray[np.integer], rng: np.random.Generator
    ) -> Floats:
        """(q,) part by part: given theta they are independent."""
        pairs = zip(self._parts, self._of_places(places), strict=True)
        drawn = [part.draw_latent(own, component, rng) for part, own in pairs if part.has_latent]
        return np.concatenate(drawn)

    def precision_columns(self) -> tuple[NDArray[np.int64], Floats]:
        """Those of the parts, one after the other."""
        columns, repeats, n = [], [], 0
        for part in self._parts:
            column, repeat = part.precision_columns()
            columns.append(column + n)
            repeats.append(repeat)
            n += len(repeat)
        return np.concatenate(columns), np.concatenate(repeats)

    def blocks(self) -> NDArray[np.int64]:
        """A block for every Gaussian part, one for all logits."""
        return self._blocks

    @cached_property
    def _blocks(self) -> NDArray[np.int64]:
        """What `blocks` returns, whatever the shared numbers are: stages ask for it often."""
        pairs = zip(self._parts, self._own_blocks, strict=True)
        return np.concatenate([blocks[part.blocks()] for part, blocks in pairs])

    def prior_on_tree(self) -> TreePrior:
        """Those of the parts."""
        return self._prior_on_tree

    @cached_property
    def _prior_on_tree(self) -> TreePrior:
        return joined_prior([part.prior_on_tree() for part in self._parts])

    def enter(self, theta: Floats) -> Floats:
        """The coordinates of the parts."""
        pairs = zip(self._parts, self._of_theta(theta), strict=True)
        return np.concatenate([part.enter(own) for part, own in pairs], axis=1)

    def leave(self, places: Floats) -> Floats:
        """The parameters of the parts."""
        pairs = zip(self._parts, self._of_places(places), strict=True)
        return np.concatenate([part.leave(own) for part, own in pairs], axis=1)

    def carried_to(self, other: Any, places: Floats) -> Floats:
        """Part by part, by way of the parameters."""
        trios = zip(self._parts, other._parts, self._of_places(places), strict=True)
        return np.concatenate([new.enter(old.leave(own)) for old, new, own in trios], axis=1)

    def evidence(
        self, places: Floats, sums: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Part by part."""
        trios = zip(self._parts, self._of_places(places), self._of_statistics(sums), strict=True)
        each = [part.evidence(own, s, rng) for part, own, s in trios]
        precision, linear = zip(*each, strict=True)
        return np.concatenate(precision, axis=1), np.concatenate(linear, axis=1)

    def row_numbers(self, rows: slice) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """(values, seen), (n, D) each, and which coordinates are logits: part by part."""
        each = [_row_numbers(part, rows) for part in self._parts]
        values, seen, is_logit = zip(*each, strict=True)
        return (
            np.concatenate(values, axis=1),
            np.concatenate(seen, axis=1),
            np.concatenate(is_logit),
        )

    def logit_counts(self, sums: Floats) -> tuple[Floats, Floats]:
        """(ones, seen), (K, D) each, as `LogitUnits` has them; 0 where a coordinate is no logit.

        Parameters
        ----------
        sums : (K, s) array
            Sums of t over the rows of each component.
        """
        pieces = zip(self._parts, self._of_statistics(sums), self._widths[0], strict=True)
        each = [_logit_counts(part, own, width) for part, own, width in pieces]
        ones, seen = zip(*each, strict=True)
        return np.concatenate(ones, axis=1), np.concatenate(seen, axis=1)

    def log_new_at(self, rows: slice, places: Floats, variances: Floats) -> Floats:
        """The sum over the parts: theta_i are independent."""
        pieces = zip(
            self._parts, self._of_places(places), self._of_precisions(variances), strict=True
        )
        return added(part.log_new_at(rows, own, v) for part, own, v in pieces)

    def log_evidence_at(self, sums: Floats, place: Floats, variance: Floats) -> Floats:
        """The sum over the parts: theta_i are independent."""
        given = self._of_statistics(sums), self._of_places(place), self._of_precisions(variance)
        pieces = zip(self._parts, *given, strict=True)
        return np.sum([part.log_evidence_at(s, own, v) for part, s, own, v in pieces], axis=0)

    def draw_theta_at(
        self, sums: Floats, places: Floats, variances: Floats, rng: np.random.Generator
    ) -> Floats:
        """Part by part."""
        given = self._of_statistics(sums), self._of_places(places), self._of_precisions(variances)
        pieces = zip(self._parts, *given, strict=True)
        return np.concatenate(
            [part.draw_theta_at(s, own, v, rng) for part, s, own, v in pieces], axis=1
        )

    def own_places(self, sums: Floats, origin: Floats) -> Floats:
        """Those of the parts."""
        trios = zip(self._parts, self._of_statistics(sums), self._of_places(origin), strict=True)
        return np.concatenate([part.own_places(s, own) for part, s, own in trios], axis=1)

    def draw_shared_at(
        self, theta: Floats, sums: Floats, increments: Floats, rng: np.random.Generator
    ) -> Floats:
        """Each part's, given its own: given those the parts are independent."""
        given = self._of_theta(theta), self._of_statistics(sums), self._of_places(increments)
        pieces = zip(self._parts, *given, strict=True)
        return np.concatenate([part.draw_shared_at(own, s, j, rng) for part, own, s, j in pieces])

    def shared_at(self, root: Floats, total: Floats) -> Floats:
        """Those of the parts."""
        trios = zip(self._parts, self._of_theta(root), self._own_blocks, strict=True)
        return np.concatenate([part.shared_at(own, total[blocks]) for part, own, blocks in trios])

    def log_prior_noise(self) -> float:
        """The sum over the parts."""
        return sum(part.log_prior_noise() for part in self._parts)

    @cached_property
    def _own_blocks(self) -> list[NDArray[np.int64]]:
        return blocks_of_parts([part.prior_on_tree() for part in self._parts])

    @cached_property
    def _widths(self) -> tuple[list[int], list[int]]:
        """How many coordinates and precisions each part has, whatever the shared numbers are."""
        each = [part.precision_columns() for part in self._parts]
        return [len(column) for column, _ in each], [len(repeats) for _, repeats in each]

    def _of_places(self, places: Floats) -> list[Floats]:
        return split(places, self._widths[0])

    def _of_precisions(self, numbers: Floats) -> list[Floats]:
        return split(numbers, self._widths[1])


def _row_numbers(part: Any, rows: slice) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Of one part."""
    if not isinstance(part, NoiseUnits):
        return part.row_numbers(rows)
    u, observed = part.whitened(rows)
    seen = np.ones_like(u) if observed is None else observed
    return u, seen, np.zeros(u.shape[1], dtype=bool)


def _logit_counts(part: Any, sums: Floats, width: int) -> tuple[Floats, Floats]:
    """Of one part."""
    if isinstance(part, NoiseUnits):
        return np.zeros((len(sums), width)), np.zeros((len(sums), width))
    return part.logit_counts(sums)
