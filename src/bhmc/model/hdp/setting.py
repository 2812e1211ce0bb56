"""What a user says of the concentrations, as a `Hyper` with every number checked."""

from numbers import Real

from bhmc._validation.parameters import check_choice, check_positive, check_whole
from bhmc.model.state import Hyper
from bhmc.priors import LEARN_BY, Prior


def check_hyper(hyper: Hyper) -> Hyper:
    """`hyper` with every number checked and made a plain float or int; priors stay."""
    if not isinstance(hyper, Hyper):
        raise TypeError(f"hyper must be a bhmc.Hyper, got {type(hyper).__name__}.")
    k = hyper.n_components
    return Hyper(
        _number_or_prior(hyper.alpha, "alpha"),
        _number_or_prior(hyper.gamma0, "gamma0"),
        _number_or_prior(hyper.gamma, "gamma"),
        None if k is None else check_whole(k, "n_components", 1),
    )


def concentrations(
    *, alpha, gamma0, gamma, fixed_components: int | None = None, hyper: str = "exact"
) -> Hyper:
    """The `Hyper` that a user's words ask for: numbers, priors, or "learn" for the usual prior."""
    learn = LEARN_BY[check_choice(hyper, "hyper", tuple(LEARN_BY))]
    if fixed_components is not None:
        check_whole(fixed_components, "fixed_components", 1)
    given = {"alpha": alpha, "gamma0": gamma0, "gamma": gamma}
    wanted = {
        name: learn[name] if isinstance(value, str) and value == "learn" else value
        for name, value in given.items()
    }
    return check_hyper(Hyper(**wanted, n_components=fixed_components))


def _number_or_prior(value, name: str):
    if isinstance(value, Prior):
        return value
    if isinstance(value, Real) and not isinstance(value, bool):
        return check_positive(value, name)
    raise TypeError(f"{name} must be a number above 0 or one of bhmc.priors, got {value!r}.")
