"""Chains of an estimator's last fit, with which its next fit goes on (`warm_start`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from bhmc._estimator.checkpoint import Checkpoint, SavedChain, check_same_fit


class Going(NamedTuple):
    """What a later fit goes on from."""

    fit: dict[str, str]
    """What `describe_fit` says of the fit."""
    chains: list[Checkpoint]
    """Where its chains are."""
    unsaved: bool = False
    """Whether one of them is not in its file as it is now, because that could not be written."""


def chains_to_go_on(estimator: Any, fit: dict[str, str]) -> list[Checkpoint] | None:
    """The chains of the last fit, if the estimator is to go on with them; None for new ones.

    With a `checkpoint` an estimator that holds no chains goes on from its files.

    Parameters
    ----------
    estimator : BHMC
        Its `warm_start` says whether to go on.
    fit : dict
        What `describe_fit` says of the fit to be made: the last one must have been the same.
    """
    if not estimator.warm_start:
        return None
    going: Going | None = getattr(estimator, "_going", None)
    if going is None:
        if hasattr(estimator, "draws_") and estimator.checkpoint is None:
            raise ValueError(
                "warm_start=True needs the chains of the last fit, and a model that was saved, "
                "copied or pickled has none: fit anew with warm_start=False, or use checkpoint."
            )
        return None
    check_same_fit(fit, going.fit)
    if len(going.chains) != estimator.n_chains:
        raise ValueError(
            f"warm_start=True goes on with the chains of the last fit, which had n_chains="
            f"{len(going.chains)}, now n_chains={estimator.n_chains}."
        )
    return going.chains


def is_unsaved(estimator: Any) -> bool:
    """Whether files of chains could not be written at the end of the last fit.

    Parameters
    ----------
    estimator : BHMC
        Fitted.
    """
    return estimator._going.unsaved


def shrink_checkpoint(estimator: Any, most_bytes: int) -> None:
    """Write the chains of a fit that has ended once more, with fewer draws where those are large.

    A later fit goes on from them as before, bit for bit; of the draws that were made already, it
    has the numbers of all, and the trees of fewer.

    Parameters
    ----------
    estimator : BHMC
        Fitted, with a `checkpoint`.
    most_bytes : int
        What partitions and whole draws in all files may take.
    """
    fit, chains, _ = estimator._going
    for number, chain in enumerate(chains):
        fewer = chain.within(most_bytes // len(chains))
        if fewer.n_kept < chain.n_kept:
            SavedChain(estimator.checkpoint, number, fit, chain.recorder.plan).write(fewer)
