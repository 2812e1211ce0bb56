"""A product of families, for mixed columns: every family has columns of its own."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.errors import WrongEntryError
from bhmc.likelihoods._own_variance import own_variance
from bhmc.likelihoods._parts_on_tree import FamilyOfParts, LikelihoodOfParts, added, split
from bhmc.likelihoods._protocol import ConjugateFamily, Likelihood
from bhmc.likelihoods._registry import FAMILIES, by_name, unscaled
from bhmc.likelihoods._summary import ColumnSummary, summary_of_all
from bhmc.likelihoods.blocks import Floats

# `describe` names so many columns of a part at most.
_MOST_NAMED = 8


@dataclass(frozen=True, eq=False, repr=False)
class Product(LikelihoodOfParts):
    """Different families for different columns.

    A component is a member of every family at once. Given its component, the parts of a row are
    independent, as the parts of theta are:

        log f(x; theta) = sum over parts i of log f_i(x_i; theta_i),    theta_i ~ H_i.

    A row of theta holds the parameters of the parts, one part after the other.

    Parameters
    ----------
    parts : list of (family, columns)
        The family is an object of `bhmc.likelihoods` or a name such as "gaussian", which takes its
        scales from its columns. The columns are numbers, counted from 0, or names where X is a
        frame: a list, or one alone. Every column of X must be in exactly one part.
    names : list of str, optional
        Names of all columns of X in their order. `BHMC` takes them from the frame.

    Examples
    --------
    >>> from bhmc.likelihoods import Bernoulli, Product
    >>> Product([(Bernoulli(), [0, 3]), ("gaussian", [1, 2])])
    Product(Bernoulli for 0, 3; "gaussian" for 1, 2)
    """

    parts: Sequence[tuple[Likelihood | str, Any]]
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        parts = tuple(_checked_part(part) for part in _listed(self.parts))
        if not parts:
            raise ValueError("Product needs at least one part, a pair (family, columns).")
        object.__setattr__(self, "parts", parts)
        for name in ("allows_missing", "has_places"):
            object.__setattr__(self, name, all(getattr(kind, name) for kind in self._kinds()))
        draws = any(kind.draws_missing for kind in self._kinds())
        object.__setattr__(self, "draws_missing", draws)
        if any(kind.needs_places for kind in self._kinds()):
            raise ValueError(
                "Product takes no family with weights of rows: ShapedGaussian needs degrees=inf."
            )

    @classmethod
    def scaled_to(cls, X: Floats, parts: Any = (), names: Any = None) -> "Product":
        """The product of these parts; families given by name are in the units of their columns.

        X must hold all rows.
        """
        return cls(parts, names).settled(X)

    def settled(self, X: Floats | None = None) -> Self:
        """A copy with an object for every name, scaled to its columns of X if given.

        X must hold all rows.
        """
        own = self.columns(X.shape[1]) if X is not None else [None] * len(self.parts)
        return self._with(
            by_name(family, X if X is None else X[:, columns])
            if isinstance(family, str)
            else family
            for (family, _), columns in zip(self.parts, own, strict=True)
        )

    def counted(self, X: Floats) -> Self:
        """A copy whose parts have what they count in their columns of X; X must hold all rows."""

        def part(family: Likelihood | str, own: list[int]) -> Likelihood | str:
            if family == "categorical":  # which has no scales to wait for, as other names have
                family = by_name("categorical")
            return family if isinstance(family, str) else family.counted(X[:, own])

        pairs = zip(self.parts, self.columns(X.shape[1]), strict=True)
        return self._with(part(family, own) for (family, _), own in pairs)

    def extents(self, X: Floats) -> Floats:
        """(n,): the sum over parts of how much of each row there is."""
        pairs = zip(self.families, self.columns(X.shape[1]), strict=True)
        return sum((family.extents(X[:, own]) for family, own in pairs), start=np.zeros(len(X)))

    def with_extents(self, X: Floats) -> Self:
        """A copy whose parts simulate rows with the totals of the rows of X."""
        pairs = zip(self.families, self.columns(X.shape[1]), strict=True)
        return self._with([family.with_extents(X[:, own]) for family, own in pairs])

    def prepare(self, X: Floats, summary: ColumnSummary | None = None) -> ConjugateFamily:
        """The family bound to X."""
        self._check_scales_known(X, summary)
        summary = summary_of_all(X, summary)
        columns = self.columns(X.shape[1])
        pairs = zip(self.settled(X).families, columns, strict=True)
        parts = [_prepared(family, X, own, summary) for family, own in pairs]
        return ProductFamily(parts, columns)

    def at(self, shared: Floats) -> "Product":
        """The product of its parts, each with its shared numbers."""
        pairs = zip(self.families, self._of_shared(shared), strict=True)
        return self._with([family.at(own) for family, own in pairs])

    def sample_shared(self, n_features: int, rng: np.random.Generator) -> Floats:
        """The shared numbers of the parts from their priors."""
        self.columns(n_features)
        pairs = zip(self.families, self._counts(), strict=True)
        return np.concatenate([family.sample_shared(d, rng) for family, d in pairs])

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """(theta_1, theta_2, ...), theta_i ~ H_i."""
        self.columns(n_features)
        pairs = zip(self.families, self._counts(), strict=True)
        return np.hstack([family.sample_theta(size, d, rng) for family, d in pairs])

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """The columns of every part from its own f_i."""
        idle = np.random.default_rng(0)  # for no rows: only the number of parameters is asked for
        counts = self._counts()
        widths = [
            family.sample_theta(0, d, idle).shape[1]
            for family, d in zip(self.families, counts, strict=True)
        ]
        X = np.empty((len(theta), sum(counts)))
        columns = self.columns(X.shape[1])
        for family, own, part in zip(self.families, columns, split(theta, widths), strict=True):
            X[:, own] = family.sample_data(part, rng)
        return X

    def describe(self) -> str:
        """One line: which family has which columns."""
        return "; ".join(
            f"{_title(family)} for {_enumeration(self._called(columns))}"
            for family, columns in self.parts
        )

    def __repr__(self) -> str:
        return f"Product({self.describe()})"

    @property
    def families(self) -> list[Likelihood]:
        """The families of the parts; one that is given by name with numbers of its own."""
        return [by_name(family) if isinstance(family, str) else family for family, _ in self.parts]

    def first_without_place(self) -> str:
        """The first family whose components cannot sit on a diffusing tree."""
        without = [kind.has_places for kind in self._kinds()].index(False)
        return _title(self.parts[without][0])

    def _kinds(self) -> list[Any]:
        """Objects of the families; those given by name without scales."""
        return [unscaled(own) if isinstance(own, str) else own for own, _ in self.parts]

    def named(self, names: Sequence[str] | None) -> Self:
        """A copy for data with these column names."""
        return self if names is None else replace(self, names=names)

    def columns(self, n_features: int) -> list[list[int]]:
        """The numbers of every part's columns, if each of the n_features is in exactly one part."""
        columns = [[self._number(column) for column in own] for _, own in self.parts]
        counts = np.bincount(np.concatenate(columns), minlength=n_features)
        if len(counts) > n_features:
            raise ValueError(
                f"Product has a part with column {len(counts) - 1}, but X has {n_features} columns."
            )
        for wrong, what in ((counts == 0, "in no part"), (counts > 1, "in more than one part")):
            if wrong.any():
                column = self._called([int(wrong.argmax())])[0]
                raise ValueError(
                    f"Product has column {column} {what}, and every column of X must be in one."
                )
        return columns

    def _check_scales_known(self, X: Floats, summary: ColumnSummary | None) -> None:
        """Refuse a part given by name where X is a block: its scales come from all rows."""
        named = [family for family, _ in self.parts if isinstance(family, str)]
        if named and summary is not None and summary.n_rows != len(X):
            raise ValueError(
                f"Product has the family {named[0]!r}, whose scales come from all rows, but X has "
                f"{len(X)} of {summary.n_rows} rows: call settled(X) with all rows first."
            )

    def _number(self, column: int | str) -> int:
        if not isinstance(column, str):
            return column
        if self.names is None:
            raise ValueError(
                f"Product has the column name {column!r}, but no names of columns are known: give "
                "numbers of columns, or all names as `names`, or fit BHMC to a frame."
            )
        if column not in self.names:
            raise ValueError(f"Product has the column name {column!r}, which X does not have.")
        return list(self.names).index(column)

    def _counts(self) -> list[int]:
        """How many columns each part has."""
        return [len(columns) for _, columns in self.parts]

    def _called(self, columns: Sequence[int | str]) -> list[str]:
        """Columns as `describe` says them: names in quotes, numbers without names plain."""
        names = self.names
        return [
            repr(column if isinstance(column, str) or names is None else names[column])
            for column in columns
        ]

    def _with(self, families: Iterable[Likelihood | str]) -> Self:
        """A copy with the same columns and other families."""
        columns = [columns for _, columns in self.parts]
        return replace(self, parts=list(zip(families, columns, strict=True)))


class ProductFamily(FamilyOfParts, ConjugateFamily):
    """The conditionals of `Product` for given data: those of its parts, side by side.

    theta, t(x), eta(theta), sums of t and shared numbers are those of the parts, one after the
    other. A part keeps the 1 at the end of its own t: so it sees the numbers it would see alone,
    and its own `fill` and `log_likelihood` serve here too. That of the last part ends the whole.
    """

    def __init__(self, parts: list[ConjugateFamily], columns: Sequence[list[int]] = ()):
        self._parts, self._columns = parts, columns
        self.n_rows = parts[0].n_rows
        self.n_parameters = sum(part.n_parameters for part in parts)
        self.n_statistics = sum(part.n_statistics for part in parts)
        self._own_parameters = [part.n_parameters for part in parts]
        self._own_statistics = [part.n_statistics for part in parts]
        self.n_shared = sum(part.n_shared for part in parts)
        self.subtracts_well = all(part.subtracts_well for part in parts)
        self.takes_statistics = all(part.takes_statistics for part in parts)
        self.has_latent = any(part.has_latent for part in parts)

    def at(self, shared: Floats) -> Self:
        """A copy whose parts hold their shared numbers."""
        family = copy.copy(self)
        pairs = zip(self._parts, self._of_shared(shared), strict=True)
        family._parts = [part.at(own) for part, own in pairs]
        return family

    def shared_sums(self) -> Floats:
        """Those of the parts, one after the other."""
        return np.concatenate([part.shared_sums() for part in self._parts])

    def with_shared_sums(self, sums: Floats) -> Self:
        """A copy whose parts draw shared numbers from their sums of all rows."""
        family = copy.copy(self)
        each = split(sums, [len(part.shared_sums()) for part in self._parts])
        pairs = zip(self._parts, each, strict=True)
        family._parts = [part.with_shared_sums(own) for part, own in pairs]
        return family

    def start_shared(self) -> Floats:
        """Where each part begins."""
        return np.concatenate([part.start_shared() for part in self._parts])

    def draw_shared(self, theta: Floats, sums: Floats, rng: np.random.Generator) -> Floats:
        """Each part's, given its own theta and sums: given those the parts are independent."""
        trios = zip(self._parts, self._of_theta(theta), self._of_statistics(sums), strict=True)
        return np.concatenate([part.draw_shared(own, s, rng) for part, own, s in trios])

    def log_prior_shared(self) -> float:
        """The sum over the parts."""
        return sum(part.log_prior_shared() for part in self._parts)

    def with_statistics(self, t: Floats) -> Self:
        """A copy whose parts hold these rows alone."""
        family = copy.copy(self)
        pairs = zip(self._parts, self._of_statistics(t), strict=True)
        family._parts, family.n_rows = [part.with_statistics(own) for part, own in pairs], len(t)
        return family

    def with_rows(self, X: Floats) -> Self:
        """A copy whose parts hold their columns of these rows alone."""
        family = copy.copy(self)
        pairs = zip(self._parts, self._columns, strict=True)
        parts = [part.with_rows(np.ascontiguousarray(X[:, own])) for part, own in pairs]
        family._parts, family.n_rows = parts, len(X)
        return family

    def statistics(self, rows: slice) -> Floats:
        """(t_1(x_1), t_2(x_2), ...)."""
        t = np.hstack([part.statistics(rows) for part in self._parts])
        t.flags.writeable = False
        return t

    def natural(self, theta: Floats) -> Floats:
        """(eta_1(theta_1), eta_2(theta_2), ...)."""
        pairs = zip(self._parts, self._of_theta(theta), strict=True)
        return np.concatenate([part.natural(own) for part, own in pairs], axis=1)

    def log_base(self) -> Floats:
        """h(x) = sum_i h_i(x_i)."""
        return added(part.log_base() for part in self._parts)

    def log_base_sum(self) -> float:
        """The sum of the parts'."""
        return sum(part.log_base_sum() for part in self._parts)

    def log_new(self) -> Floats:
        """log f*(x) - h(x) = sum_i [ log f*_i(x_i) - h_i(x_i) ]: theta_i are independent."""
        return np.sum([part.log_new() for part in self._parts], axis=0)

    def log_evidence(self, sums: Floats) -> Floats:
        """The sum over the parts: theta_i are independent."""
        pairs = zip(self._parts, self._of_statistics(sums), strict=True)
        return np.sum([part.log_evidence(own) for part, own in pairs], axis=0)

    def log_prior(self, theta: Floats) -> Floats:
        """log h(theta) = sum_i log h_i(theta_i)."""
        pairs = zip(self._parts, self._of_theta(theta), strict=True)
        return np.sum([part.log_prior(own) for part, own in pairs], axis=0)

    def draw_theta(self, sums: Floats, rng: np.random.Generator) -> Floats:
        """theta_ki ~ p(theta_i | its rows), part by part: given the rows they are independent."""
        pairs = zip(self._parts, self._of_statistics(sums), strict=True)
        return np.hstack([part.draw_theta(own, rng) for part, own in pairs])

    def log_maximum(self, sums: Floats) -> Floats:
        """The sum over the parts."""
        pairs = zip(self._parts, self._of_statistics(sums), strict=True)
        return np.sum([part.log_maximum(own) for part, own in pairs], axis=0)

    def with_spread(self, sums: Floats) -> Self:
        """A copy whose parts have the spread within their own components."""
        family = copy.copy(self)
        pairs = zip(self._parts, self._of_statistics(sums), strict=True)
        family._parts = [part.with_spread(own) for part, own in pairs]
        return family

    def group_sums(self, sums: Floats) -> Floats:
        """Sums of t, and what every component has at its own means for each of the variances."""
        return np.hstack([sums, self._by_variance(sums)[0]])

    def group_maximum(self, sums: Floats) -> Floats:
        """The sum over the parts, where a group has Gaussian variances of its own: `own_variance`.

        So no column outweighs all others because its noise is small: families of 0 and 1 and of
        categories have no noise that could be as small.
        """
        sums, apart = np.split(sums, [self.n_statistics], axis=1)
        together, entries = self._by_variance(sums)
        gained = own_variance(apart, together, entries) - together
        return self.log_maximum(sums) + gained.sum(axis=1)

    def _by_variance(self, sums: Floats) -> tuple[Floats, Floats]:
        """`log_maximum_by_variance` of the parts that have variances, side by side."""
        pairs = zip(self._parts, self._of_statistics(sums), strict=True)
        found = [part.log_maximum_by_variance(own) for part, own in pairs]
        nothing = np.zeros((len(sums), 0))
        each = [(nothing, nothing)]
        if len(found) > 1:  # one family alone is not compared with another
            each += [one for one in found if one is not None]
        return np.hstack([best for best, _ in each]), np.hstack([entries for _, entries in each])

    def points(self, rows: slice) -> Floats:
        """Those of the parts, side by side: each has its columns in units that compare."""
        return np.hstack([part.points(rows) for part in self._parts])

    def check_precision(self, dtype: str) -> None:
        """Refuse what a part refuses. Errors of the parts add up."""
        for part in self._parts:
            part.check_precision(dtype)

    def fill(
        self, rows: slice, statistics: NDArray[Any], natural: NDArray[Any], out: NDArray[Any]
    ) -> None:
        """The sum of the parts' tables."""
        pieces = zip(self._of_statistics(statistics), self._of_statistics(natural), strict=True)
        own = np.empty(out.shape, out.dtype)
        for i, (part, (t, eta)) in enumerate(zip(self._parts, pieces, strict=True)):
            part.fill(rows, t, eta, own if i else out)
            if i:
                out += own

    def log_likelihood(self, natural: Floats, sums: Floats, components: NDArray[Any]) -> float:
        """The sum over the parts."""
        pieces = zip(self._of_statistics(natural), self._of_statistics(sums), strict=True)
        return sum(
            part.log_likelihood(eta, s, components)
            for part, (eta, s) in zip(self._parts, pieces, strict=True)
        )

    def seated(
        self, theta: Floats, component: NDArray[np.integer], rng: np.random.Generator
    ) -> Self:
        """A copy whose parts are."""
        family = copy.copy(self)
        pairs = zip(self._parts, self._of_theta(theta), strict=True)
        family._parts = [part.seated(own, component, rng) for part, own in pairs]
        return family

    def for_groups(self, labels: NDArray[np.integer]) -> Self:
        """A copy whose parts are."""
        family = copy.copy(self)
        family._parts = [part.for_groups(labels) for part in self._parts]
        return family

    def sums(self, components: NDArray[Any], n_components: int) -> Floats:
        """(K, s): the sums of the parts."""
        return np.hstack([part.sums(components, n_components) for part in self._parts])

    def _of_theta(self, theta: Floats) -> list[Floats]:
        return split(theta, self._own_parameters)

    def _of_statistics(self, numbers: NDArray[Any]) -> list[NDArray[Any]]:
        return split(numbers, self._own_statistics)

    def _of_shared(self, shared: Floats) -> list[Floats]:
        return split(shared, [part.n_shared for part in self._parts])


def _prepared(
    likelihood: Likelihood, X: Floats, columns: list[int], summary: ColumnSummary
) -> ConjugateFamily:
    """A part bound to its columns; an error names the columns as those of the whole."""
    try:
        own = np.ascontiguousarray(X[:, columns])
        return likelihood.prepare(own, summary.select(columns))
    except WrongEntryError as error:
        raise error.within(columns) from None
    except (TypeError, ValueError) as error:
        raise type(error)(f"in the part of columns {columns}: {error}") from None


def _listed(parts: Any) -> list[Any]:
    try:
        return list(parts)
    except TypeError:
        raise TypeError(
            f"parts of Product must be a list of pairs (family, columns), got {parts!r}."
        ) from None


def _checked_part(part: Any) -> tuple[Likelihood | str, list[int | str]]:
    """(family, list of columns), if it is that."""
    if not isinstance(part, Sequence) or isinstance(part, str) or len(part) != 2:
        raise TypeError(f"a part of Product must be a pair (family, columns), got {part!r}.")
    family, columns = part
    if isinstance(family, str) and family not in FAMILIES:
        names = ", ".join(repr(name) for name in FAMILIES)
        raise ValueError(f"Product has the family {family!r}; choose one of {names}.")
    if not isinstance(family, str | Likelihood) or isinstance(family, Product):
        raise TypeError(
            f"a family in Product must be a name or an object of bhmc.likelihoods other than "
            f"Product, got {family!r}."
        )
    columns = [columns] if isinstance(columns, str | Integral) else columns
    columns = [_checked_column(column) for column in columns]
    if not columns:
        raise ValueError(f"Product has no columns for {_title(family)}.")
    return family, columns


def _checked_column(column: Any) -> int | str:
    if isinstance(column, str):
        return column
    if isinstance(column, bool) or not isinstance(column, Integral) or column < 0:
        raise ValueError(
            f"columns in Product must be names or whole numbers of at least 0, got {column!r}."
        )
    return int(column)


def _title(family: Likelihood | str) -> str:
    return f'"{family}"' if isinstance(family, str) else type(family).__name__


def _enumeration(words: list[str]) -> str:
    rest = len(words) - _MOST_NAMED
    if rest < 2:  # "and 1 more" is no shorter than a name
        return ", ".join(words)
    return f"{', '.join(words[:_MOST_NAMED])} and {rest} more"
