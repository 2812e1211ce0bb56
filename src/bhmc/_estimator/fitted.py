"""`Fitted`: what a fitted `BHMC` has beside what `fit` sets, and how it is saved and pickled."""

import os
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bhmc.model.protocol import Transition
from bhmc.model.registry import AUTO, transition_named
from bhmc.posterior.diagnostics import Diagnostics, diagnose
from bhmc.posterior.draws import Draws
from bhmc.tree import Tree


class Fitted:
    """The properties and methods of a fitted `BHMC` that need no data."""

    transition: Any
    # Set by `fit`.
    tree_: Tree
    draws_: Draws

    @property
    def diagnostics_(self) -> Diagnostics:
        """R-hat and effective draws of every label-free number in `draws_`, and what they say."""
        check_is_fitted(self, "draws_")
        return diagnose(self.draws_)

    @cached_property
    def dendrogram_(self) -> Tree:
        """The dendrogram of components; `fit` puts it in the place of this property."""
        check_is_fitted(self)
        raise AttributeError(
            "this model has no dendrogram_, because an older bhmc saved it: fit it again."
        )

    @cached_property
    def transition_(self) -> Transition:
        """The transition of a fit; `fit` puts it in the place of this property.

        A model that an older bhmc saved has none: its parameter says which it was.
        """
        check_is_fitted(self)
        return transition_named("hdp" if self.transition == AUTO else self.transition)

    def labels_at(self, level: int) -> NDArray[np.int32]:
        """(n,) node of each row at `level` of the point estimate, numbered from 0 in that level.

        Parameters
        ----------
        level : int
            Level 0 is the root (all zeros), level `n_levels` the leaves (equal to `labels_`).
        """
        check_is_fitted(self)
        return self.tree_.labels_at(level)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save parameters and fit in one file, in an atomic write (docs/file-format.md).

        The file does not contain the data. A likelihood of your own cannot be saved, because a file
        holds no code.

        Parameters
        ----------
        path : path
            The file to write; an existing file is replaced.
        """
        from bhmc._io.archive import save_model  # imports every family

        save_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The model of a file that `save` wrote. Nothing in the file is executed.

        Parameters
        ----------
        path : path
            The file to read.
        """
        from bhmc._io.archive import load_model

        return load_model(path, cls)

    def __getstate__(self) -> dict[str, Any]:
        """All but the chains, which are large and of use in this process only."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_going"}
