"""Commands that need no run folder: `prior` and `completion`."""

from bhmc._cli.exit_codes import OK
from bhmc._validation.errors import refusals


def prior(options) -> int:
    """Print what settings imply."""
    from bhmc import describe_prior
    from bhmc._cli.output import print_json
    from bhmc.model.state import CONCENTRATIONS

    with refusals():
        description = describe_prior(
            options.n,
            n_levels=options.levels,
            **{name: getattr(options, name) for name in CONCENTRATIONS},
            n_samples=options.samples,
            random_state=options.seed,
        )
    if options.json:
        lines = [line._asdict() for line in description.lines]
        print_json({"n": description.n, "samples": description.n_samples, "lines": lines})
    else:
        print(description)
    return OK


def completion(options) -> int:
    """Print a script for a shell."""
    from bhmc._cli.parser import build_parser
    from bhmc._extras import import_shtab

    with refusals():
        shtab = import_shtab("shell completion")
    print(shtab.complete(build_parser(), options.shell))
    return OK
