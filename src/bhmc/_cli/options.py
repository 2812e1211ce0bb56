"""Options that several commands share, and how their values are read."""

import argparse
import csv
from collections.abc import Callable

# As the library has them; a test compares. To import them would take seconds.
LIKELIHOODS = (
    "auto",
    "gaussian",
    "spherical_gaussian",
    "shared_gaussian",
    "free_gaussian",
    "full_gaussian",
    "known_gaussian",
    "bernoulli",
    "categorical",
    "poisson",
    "multinomial",
)
STARTS = ("prior", "single", "singletons", "kmeans", "ward")
FORMATS = ("csv", "tsv", "parquet", "npy", "npz", "mtx")


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
    """A number above 0, or `learn`."""
    if text == "learn":
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(
            f"must be a number above 0, or the word learn, got {text[:40]!r}"
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


def jobs(text: str) -> int:
    """A whole number other than 0."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10 and int(digits)):
        raise argparse.ArgumentTypeError(
            f"must be a whole number, -1 for all processors, got {text[:40]!r}"
        )
    return int(text)


def minutes(text: str) -> float:
    """A number of minutes above 0."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be minutes, a number above 0, got {text[:40]!r}")
    return number


def sizes(text: str) -> list[int]:
    """Whole numbers of at least 10 between commas, smallest first."""
    return sorted({whole(10)(part.strip()) for part in text.split(",")})


def columns(text: str) -> list[str]:
    """Names of columns between commas; one that holds a comma goes in double quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


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
        help="the column that names the rows (default: the first, if it is text that differs in "
        "every row)",
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
        "--text",
        metavar="A,B",
        type=columns,
        action="extend",
        default=[],
        help="columns of categories, even where they look like numbers",
    )
    group.add_argument(
        "--format", choices=FORMATS, help="what the file is (default: by the ending of its name)"
    )
    group.add_argument(
        "--delimiter", type=delimiter, metavar="C", help="between cells; `tab` (default: found out)"
    )
    group.add_argument("--decimal", choices=(".", ","), default=".", help="default: .")
    group.add_argument("--encoding", metavar="NAME", help="of a text file (default: UTF-8)")
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


def add_fit(parser) -> None:
    """The settings of the model and of the sampler; those not given are `BHMC`'s own defaults."""
    model = parser.add_argument_group("the model")
    model.add_argument(
        "--levels", type=whole(1), metavar="L", help="steps from the root to a leaf (default: 3)"
    )
    model.add_argument(
        "--likelihood",
        choices=LIKELIHOODS,
        metavar="NAME",
        help=f"what a component looks like: {', '.join(LIKELIHOODS)} (default: auto, by the data)",
    )
    texts = {
        "alpha": "how readily data open new branches",
        "gamma0": "how many components the whole tree spreads over",
        "gamma": "how closely a node's mixture follows its parent's",
    }
    for name, text in texts.items():
        model.add_argument(
            f"--{name}",
            type=concentration,
            metavar="X",
            help=f"{text}: a number or `learn` (default)",
        )
    sampler = parser.add_argument_group("the sampler")
    sampler.add_argument(
        "--draws", type=whole(1), metavar="N", help="draws kept of every chain (default: 300)"
    )
    sampler.add_argument(
        "--warmup", type=whole(0), metavar="N", help="sweeps thrown away before (default: 200)"
    )
    sampler.add_argument(
        "--thin", type=whole(1), metavar="N", help="sweeps from one draw to the next (default: 1)"
    )
    sampler.add_argument("--chains", type=whole(1), metavar="N", help="chains (default: 2)")
    sampler.add_argument(
        "--jobs", type=jobs, metavar="N", help="chains run at the same time (default: 1)"
    )
    sampler.add_argument(
        "--seed",
        type=whole(0),
        metavar="N",
        help="the same seed gives the same answer (default: a fresh one, kept in run.json)",
    )
    sampler.add_argument("--init", choices=STARTS, help="where chains start (default: kmeans)")
    answer = parser.add_argument_group("the answer")
    answer.add_argument(
        "--estimate",
        choices=("vi", "map"),
        help="vi: the tree nearest to all draws, by variation of information; map: the most likely "
        "draw (default: vi)",
    )
    answer.add_argument(
        "--keep",
        choices=("auto", "paths", "summary"),
        help="paths: the tree of every draw; summary: of some, which takes little memory "
        "(default: auto, by the size of the data)",
    )
