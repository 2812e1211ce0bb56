"""Options that several commands share, and how their values are read."""

import argparse
import csv
from collections import ChainMap
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from bhmc._validation.column_plan import USES
from bhmc.likelihoods import NAMES
from bhmc.model.registry import AUTO, TRANSITIONS

# As the library has them; a test compares. To import them would take seconds.
STARTS = ("auto", "prior", "single", "singletons", "kmeans", "ward", "sample")
# What `--describe` means without a node; no name of a node has spaces at its ends.
ALL_TOP_NODES = " all "
MOVES = ("relocate", "regraft", "dishes", "split")
FORMATS = ("csv", "tsv", "xlsx", "parquet", "npy", "npz", "mtx")


def whole(least: int) -> Callable[[str], int]:
    """A reader of whole numbers of at least `least`."""

    def read(text: str) -> int:
        # Not isdigit alone: "²" is one of those too.
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
        if number < least:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of at least {least}, got {text[:40]!r}"
            )
        return number

    return read


def concentration(text: str) -> float | str:
    """A number above 0, `learn` or `auto`."""
    if text in ("learn", "auto"):
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(
            f"must be a number above 0, or one of the words learn and auto, got {text[:40]!r}"
        )
    return number


def share(text: str) -> float:
    """A share of 0 to 1, or of 0% to 100%."""
    percent = text.endswith("%")
    try:
        number = float(text.removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(
            f"must be a share such as 0.5 or 50%, from 0 to 1, got {text[:40]!r}"
        )
    return number


def draws(text: str) -> int | str:
    """A whole number of at least 1, or `auto`."""
    if text == "auto":
        return text
    try:
        return whole(1)(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, or the word auto") from None


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    return _positive(text, "seconds")


def jobs(text: str) -> int:
    """A whole number other than 0."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10 and int(digits)):
        raise argparse.ArgumentTypeError(
            f"must be a whole number, -1 for all processors, got {text[:40]!r}"
        )
    return int(text)


def moves(text: str) -> str | tuple[str, ...]:
    """`auto`, `none`, or names between commas."""
    if text == "auto":
        return text
    names = () if text == "none" else tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in MOVES:
            raise argparse.ArgumentTypeError(
                f"must be auto, none or names of {', '.join(MOVES)} between commas, got "
                f"{text[:40]!r}"
            )
    return names


def minutes(text: str) -> float:
    """A number of minutes above 0."""
    return _positive(text, "minutes")


def _positive(text: str, unit: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be {unit}, a number above 0, got {text[:40]!r}")
    return number


def sizes(text: str) -> list[int]:
    """Whole numbers of at least 10 between commas, smallest first."""
    return sorted({whole(10)(part.strip()) for part in text.split(",")})


def columns(text: str) -> list[str]:
    """Names of columns between commas; one that holds a comma goes in double quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def kinds(text: str) -> list[tuple[str, str]]:
    """Pairs COLUMN=KIND between commas; a name may hold an equals sign itself."""
    pairs = []
    for part in columns(text):
        name, _, kind = part.rpartition("=")
        if kind not in USES or not part.count("="):
            raise argparse.ArgumentTypeError(
                f"must be COLUMN=KIND, where KIND is one of {', '.join(USES)}, got {part[:40]!r}"
            )
        pairs.append((name.strip(), kind))
    return pairs


def delimiter(text: str) -> str:
    """One character, or a word for one that shells make hard to type."""
    found = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}.get(text, text)
    if len(found) != 1 or found in '"\r\n':
        raise argparse.ArgumentTypeError(f"must be one character or `tab`, got {text[:40]!r}")
    return found


def add_reading(group) -> None:
    """How to read a table."""
    names = group.add_mutually_exclusive_group()
    names.add_argument(
        "--id",
        metavar="COLUMN",
        help="the column that names the rows (default: the first that looks like an id; others "
        "are left out)",
    )
    names.add_argument("--no-id", action="store_true", help="no column names the rows")
    group.add_argument(
        "--drop",
        metavar="A,B",
        type=columns,
        action="extend",
        default=[],
        help="columns to leave out",
    )
    group.add_argument(
        "--as",
        dest="kinds",
        metavar="COLUMN=KIND",
        type=kinds,
        action="extend",
        default=[],
        help=f"what a column is: {', '.join(USES)}; a date is fitted as days (default: found out)",
    )
    group.add_argument(
        "--format", choices=FORMATS, help="what the file is (default: by the ending of its name)"
    )
    group.add_argument(
        "--delimiter", type=delimiter, metavar="C", help="between cells; `tab` (default: found out)"
    )
    group.add_argument("--decimal", choices=(".", ","), default=".", help="default: .")
    group.add_argument(
        "--thousands",
        choices=(",", ".", " ", "'"),
        default="",
        help="what separates thousands, as in 1,200 (default: nothing)",
    )
    group.add_argument(
        "--encoding",
        metavar="NAME",
        help="of a text file (default: UTF-8, or UTF-16 where its first bytes say so)",
    )
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header",
        action="store_true",
        default=None,
        help="the first line names the columns, even if it holds numbers only",
    )
    header.add_argument(
        "--no-header", dest="header", action="store_false", help="the first line is data"
    )


def add_blocks(group) -> None:
    """Whether rows stay in the file."""
    group.add_argument(
        "--blocks",
        action=argparse.BooleanOptionalAction,
        help="leave rows in the file and read them in blocks: .npy, .parquet, .zarr and folders of "
        ".parquet, of numbers alone (default: for 50,000 rows and more)",
    )


def add_texts(group) -> None:
    """Columns of free text."""
    group.add_argument(
        "--text",
        metavar="A,B",
        type=columns,
        action="extend",
        default=[],
        help="columns of free text, such as title,description: they become numbers, and nodes are "
        "described by their words",
    )
    group.add_argument(
        "--text-model",
        metavar="MODEL",
        help="auto: sentence embeddings, if a model is on this machine, else TF-IDF; tfidf; or the "
        "folder of a sentence model; nothing is downloaded (default: auto)",
    )
    group.add_argument(
        "--boilerplate",
        metavar="TEXT",
        action="append",
        default=[],
        help="a sentence of the texts that says nothing, such as 'Buy online today': TF-IDF and "
        "what describes nodes leave its words out, wherever they are; may be given several times",
    )


class FitOption(NamedTuple):
    """An option of `bhmc fit` and the parameter of `BHMC` that it sets."""

    name: str
    parameter: str
    group: str
    help: str
    default: Any
    """The default of `BHMC`, for the help; a test compares."""
    choices: Collection[str] | None = None
    read: Callable[[str], Any] | None = None
    metavar: str | None = None

    @property
    def dest(self) -> str:
        """The name of its value among the options."""
        return self.name.replace("-", "_")


_MODEL, _SAMPLER, _ANSWER = "the model", "the sampler", "the answer"

FIT_OPTIONS = (
    FitOption(
        "levels", "n_levels", _MODEL, "steps from the root to a leaf", 3, None, whole(1), "L"
    ),
    FitOption(
        "transition",
        "transition",
        _MODEL,
        "how trees are drawn",
        AUTO,
        ChainMap(TRANSITIONS, {AUTO: ""}),  # also those that are registered later
    ),
    FitOption(
        "likelihood",
        "likelihood",
        _MODEL,
        f"what a component looks like: {', '.join(NAMES)}",
        "auto",
        NAMES,
        metavar="NAME",
    ),
    FitOption(
        "alpha",
        "alpha",
        _MODEL,
        "how readily data open new branches: a number, `learn` or `auto`",
        "auto",
        read=concentration,
        metavar="X",
    ),
    FitOption(
        "gamma0",
        "gamma0",
        _MODEL,
        "how many components the whole tree spreads over: a number, `learn` or `auto`",
        "auto",
        read=concentration,
        metavar="X",
    ),
    FitOption(
        "gamma",
        "gamma",
        _MODEL,
        "how closely a node's mixture follows its parent's: a number, `learn` or `auto`",
        "auto",
        read=concentration,
        metavar="X",
    ),
    FitOption(
        "fixed-components",
        "fixed_components",
        _MODEL,
        "exactly so many components: the finite form of the model",
        None,
        read=whole(1),
        metavar="K",
    ),
    FitOption(
        "sampler",
        "sampler",
        _SAMPLER,
        "gibbs, mh and blocked are exact; paper is the published algorithm, which is not; auto: "
        "gibbs, or blocked for many rows",
        "auto",
        metavar="NAME",
    ),
    FitOption(
        "moves",
        "moves",
        _SAMPLER,
        "moves of many rows at once: auto (all), none, or some of relocate,regraft,dishes,split",
        "auto",
        read=moves,
        metavar="A,B",
    ),
    FitOption(
        "hyper",
        "hyper",
        _SAMPLER,
        "exact: concentrations are learned in every sweep; paper: during the warm-up only",
        "exact",
        ("exact", "paper"),
    ),
    FitOption(
        "draws",
        "n_draws",
        _SAMPLER,
        "draws kept of every chain; auto: 300, of chains that run until they agree",
        "auto",
        read=draws,
        metavar="N",
    ),
    FitOption(
        "warmup",
        "n_warmup",
        _SAMPLER,
        "sweeps thrown away before, at least",
        200,
        None,
        whole(0),
        "N",
    ),
    FitOption("thin", "thin", _SAMPLER, "sweeps from one draw to the next", 1, None, whole(1), "N"),
    FitOption(
        "max-seconds",
        "max_seconds",
        _SAMPLER,
        "end after this time at the latest; the answer then depends on the machine's speed",
        None,
        read=seconds,
        metavar="S",
    ),
    FitOption(
        "checkpoint-interval",
        "checkpoint_interval",
        _SAMPLER,
        "seconds from one save of a chain to the next, at least",
        30.0,
        read=seconds,
        metavar="S",
    ),
    FitOption("chains", "n_chains", _SAMPLER, "independent chains", 2, None, whole(1), "N"),
    FitOption(
        "jobs",
        "n_jobs",
        _SAMPLER,
        "chains run at the same time; -1: as many as there are processors",
        None,
        read=jobs,
        metavar="N",
    ),
    FitOption("init", "init", _SAMPLER, "where chains start", "auto", STARTS),
    FitOption(
        "precision",
        "precision",
        _SAMPLER,
        "type of the likelihood tables; float32 is less exact",
        "float64",
        ("float64", "float32"),
    ),
    FitOption(
        "estimate",
        "estimate",
        _ANSWER,
        "vi: the tree nearest to all draws, by variation of information; map: the most likely draw",
        "vi",
        ("vi", "map"),
    ),
    FitOption(
        "keep",
        "keep",
        _ANSWER,
        "paths: the tree of every draw; summary: of some, which takes little memory; auto: by size",
        "auto",
        ("auto", "paths", "summary"),
    ),
)

# Parameters of `BHMC` that have no option of their own: `--seed`, the run folder, `--quiet`,
# `--continue`, and `--as`, `--id` and `--drop` decide them.
SET_BY_THE_COMMAND = ("random_state", "checkpoint", "progress", "warm_start", "columns")


def add_fit(parser) -> None:
    """The settings of the model and of the sampler; those not given are `BHMC`'s own defaults."""
    groups = {name: parser.add_argument_group(name) for name in (_MODEL, _SAMPLER, _ANSWER)}
    for one in FIT_OPTIONS:
        default = "" if one.default is None else f" (default: {one.default})"
        groups[one.group].add_argument(
            f"--{one.name}",
            choices=one.choices,
            type=one.read,
            metavar=one.metavar,
            help=one.help + default,
        )
    groups[_SAMPLER].add_argument(
        "--seed",
        type=whole(0),
        metavar="N",
        help="the same seed gives the same answer (default: a fresh one, kept in run.json)",
    )


def given_settings(options) -> dict[str, Any]:
    """Parameters of `BHMC` that options of `bhmc fit` set."""
    return {
        one.parameter: getattr(options, one.dest)
        for one in FIT_OPTIONS
        if getattr(options, one.dest) is not None
    }


def add_concentrations(parser) -> None:
    """The concentrations, as `bhmc prior` takes them: each has a default that is a value."""
    for one in FIT_OPTIONS:
        if one.read is concentration:
            parser.add_argument(
                f"--{one.name}",
                type=concentration,
                default=one.default,
                metavar="X",
                help=f"{one.help} (default: {one.default})",
            )
