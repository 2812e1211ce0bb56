"""The words of the command line. Only the standard library: `bhmc --help` must come at once."""

import argparse
import shutil

from bhmc._cli.options import (
    ALL_TOP_NODES,
    add_blocks,
    add_concentrations,
    add_fit,
    add_reading,
    add_texts,
    columns,
    jobs,
    minutes,
    share,
    sizes,
    whole,
)
from bhmc._version import __version__

PLOTS = ("tree", "dendrogram", "icicle", "trace", "coclustering", "prior")
EXPORTS = ("newick", "linkage", "json", "csv", "graphml", "arviz")
SHELLS = ("bash", "zsh", "tcsh")
EXPERIMENTS = ("animals", "fashion", "amazon")

_EPILOG = """\
a first session:
  bhmc fit animals.csv -o run --levels 3
  bhmc show run --features 3
  bhmc plot run -o tree.png
  bhmc report run -o page.html
  bhmc explore run -o tree.html

exit codes:
  0    done
  1    something went wrong that should not have: please report it
  2    wrong use, or data that cannot be fitted; one sentence says why
  3    a file could not be written (disk full, folder removed or read-only); one sentence says which
  4    rerun: the answer is not that of the run
  130  interrupted; what was sampled by then is kept

BHMC_DEBUG=1 in the environment shows Python's traceback of any error.
"""

_FIT = """\
Fit a hierarchy of clusters to the rows of a table and write a run folder.

The folder holds the settings, seed and versions (run.json), the model (model.bhmc), the tree
(tree.txt), where every row went (assignments.csv) and numbers of every draw (draws.csv). Ctrl-C
keeps what was sampled so far; `bhmc fit --continue DIR` goes on from there.
"""

_FIT_EPILOG = """\
examples:
  bhmc fit animals.csv -o run --id animal
  bhmc fit shop.csv -o run --id item --text title,description
  bhmc fit counts.mtx -o run --likelihood multinomial --levels 4 --jobs 2
  bhmc fit big.npy -o run                  rows of a large table stay in the file
  bhmc fit --continue run                  finish a run that was interrupted
  bhmc fit --continue run --draws 500      500 more draws of every chain
  bhmc fit --continue run --draws auto     twice as many sweeps or more, until the chains agree
"""

_RERUN = """\
Fit the data of a run again with its settings and its seed, and say whether the answer is the same.

Labels, tree and draws are compared bit for bit. They are the same with the same versions on the
same kind of machine. The data must have the digest (SHA-256) that run.json has. Without -o the new
fit is thrown away once it is compared.
"""

_RERUN_EPILOG = """\
examples:
  bhmc rerun run
  bhmc rerun run moved/animals.csv -o again
"""

_SHOW = """\
Print the tree of a run.

A line is a node: its number (a > b where b is an only child), how many data it holds, how many of
them each component holds, and in a leaf their names. A percentage is the node's support: how well
the draws have the node, the mean of the best match, 100 % where all have exactly these data. In a
dendrogram (--dendrogram) a height is the log likelihood, in nats, that is lost when the components
below share one parameter.
"""

_EXPLORE = """\
Write one page of HTML in which to look around in a run.

It has the tree and the dendrogram to zoom into, what sets every group apart, typical and odd rows,
how sure the place of each row is, the draws to play through, and whether the chains agree. The page
needs no network, no server and no other file; any browser opens it.
"""

_EXPLORE_EPILOG = """\
examples:
  bhmc explore run -o tree.html
  bhmc explore run -o tree.html --compare run2        two runs side by side
  bhmc explore run -o tree.html --compare kinds.csv   the tree beside known classes
  bhmc explore run -o tree.html --images images.npy
"""

_PREDICT = """\
Place new rows in the tree of a run.

The table needs the columns that were fitted, in any order; others are left out. For every row it
writes name, leaf (its node number), label (its number among the leaves, as in Python's labels_),
path (node numbers from the root), component, the probability of that leaf among those of the tree,
and the probabilities that the row belongs on a new branch, and in a component that no fitted row
has. With --outliers it also says how unusual the row is. A row without any entry has empty cells.
Rows of a large table stay in the file, and -o FILE.npy gets a record for each of them.
"""

_REPRODUCE = """\
Run an experiment of the paper end to end and write its figures, tables and a page of results.

  animals   33 animals with 102 features; --data animals_33x102.csv
  fashion   1,000 images of clothes, which come with bhmc
  amazon    products with category paths, all methods side by side; --data products.csv.gz

The folder holds results.html, the page to read, with its figures (PNG) and tables (CSV). Finished
parts are kept in it: after Ctrl-C the same command goes on from there.
"""

_REPRODUCE_EPILOG = """\
examples:
  bhmc reproduce animals --data animals_33x102.csv -o animals
  bhmc reproduce fashion --quick           does everything work? seconds, numbers mean nothing
"""

_COMPARE = """\
Run several methods on a table and measure their trees against classes that no method sees.

  bhmc           Bayesian hierarchical mixture clustering, defaults of this library
  bhmc-diffused  the same with transition="diffused": near groups share a branch
  bhmc-hdp       the same with transition="hdp", the paper's model
  bhmc-paper     the same with the settings and the sampling of concentrations of the paper
  ward           Ward's method
  perch          PERCH, an online method, with rotations by means (ours)
  perch-boxes    PERCH with rotations by boxes, as its authors have it
  pydt-sl        Pitman-Yor diffusion tree, slice sampler
  pydt-mh        the same by Metropolis-Hastings
  random         the control: trees drawn at random, at the alpha and L of bhmc

Classes are columns of the table, one for each level (--labels), or paths such as `food > fruit` in
one column (--path). The folder holds results.html, the page to read, with figures (PNG) and tables
(CSV). Finished runs are kept in it: after Ctrl-C the same command goes on from there.
"""

_COMPARE_EPILOG = """\
examples:
  bhmc compare zoo.csv --labels type -o zoo --drop name
  bhmc compare products.csv --path category --text title,text --methods bhmc,ward,random -o shop
"""

_BHMC = ("bhmc", "bhmc-diffused", "bhmc-hdp", "bhmc-paper")
METHODS = (*_BHMC, "ward", "perch", "perch-boxes", "pydt-sl", "pydt-mh", "random")
_DEFAULT_METHODS = [name for name in METHODS if name not in (*_BHMC[1:], "perch-boxes")]


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Descriptions as they are written; room for the longest of the short options."""

    def __init__(self, prog: str):
        width = min(shutil.get_terminal_size().columns, 100)
        super().__init__(prog, max_help_position=26, width=width)


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="bhmc",
        description="Clusters within clusters: Bayesian hierarchical mixture clustering.",
        epilog=_EPILOG,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"bhmc {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for add in (_fit, _rerun, _show, _plot, _html_report, _explore, _predict, _export, _diagnose):
        add(commands)
    for add in (_demo, _prior, _reproduce, _compare, _completion):
        add(commands)
    return parser


def _command(commands, name: str, short: str, text: str = "", epilog: str = ""):
    parser = commands.add_parser(
        name,
        help=short,
        description=text or f"{short[0].upper()}{short[1:]}.",
        epilog=epilog,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    return parser


def _on_folder(commands, name: str, short: str, text: str = "", epilog: str = ""):
    """A command on a run folder."""
    parser = _command(commands, name, short, text, epilog)
    parser.add_argument("folder", metavar="DIR", help="a run folder, written by `bhmc fit`")
    return parser


def _json(parser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document; messages go to stderr"
    )


def _raw(parser) -> None:
    parser.add_argument(
        "--raw",
        action="store_true",
        help="leave names in CSV files as they are; by default an apostrophe comes before one that "
        "a spreadsheet would execute (=, +, -, @ or a tabulator at its beginning)",
    )


def _output(parser, text: str, **options) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", help=text, **options)


def _fit(commands) -> None:
    parser = _command(commands, "fit", "fit a hierarchy to a table", _FIT, _FIT_EPILOG)
    parser.add_argument(
        "data", metavar="DATA", nargs="?", help="a table, one row a datum: a file, or a folder"
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="the run folder to write")
    parser.add_argument(
        "--continue",
        dest="resume",
        metavar="DIR",
        help="go on with the run in DIR, with its data and settings; --draws then says how many "
        "draws more, or auto: until the chains agree",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace the run in DIR, if there is one"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no messages, no progress bar")
    _json(parser)
    _raw(parser)
    table = parser.add_argument_group("the table")
    add_reading(table)
    add_blocks(table)
    table.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a Dask scheduler, such as tcp://host:8786, whose workers read the file and hold its "
        "rows (needs the extra dask)",
    )
    add_texts(table)
    add_fit(parser)


def _rerun(commands) -> None:
    parser = _on_folder(
        commands,
        "rerun",
        "fit a run again and compare the answers",
        _RERUN,
        _RERUN_EPILOG,
    )
    parser.add_argument("data", metavar="DATA", nargs="?", help="its table, where it has moved")
    parser.add_argument("-o", "--output", metavar="NEW", help="a folder for the new run")
    parser.add_argument("-q", "--quiet", action="store_true", help="no messages, no progress bar")
    _json(parser)
    # Draws do not depend on where rows are, so a run of a cluster is run again without one.
    parser.set_defaults(scheduler=None)


def _dendrogram(parser, what: str) -> None:
    parser.add_argument(
        "--dendrogram",
        action="store_true",
        help=f"{what} the dendrogram of components in place of the tree: which are near each other",
    )


def _show(commands) -> None:
    parser = _on_folder(
        commands,
        "show",
        "print the tree of a run",
        _SHOW,
    )
    _dendrogram(parser, "print")
    parser.add_argument(
        "--tree",
        action="store_true",
        help="print the tree, also where a run opens with the dendrogram",
    )
    parser.add_argument("--depth", type=whole(0), metavar="N", help="levels to show; 0: the root")
    parser.add_argument(
        "--min-size", type=whole(1), default=1, metavar="N", help="hide nodes of fewer data"
    )
    parser.add_argument(
        "--min-support",
        type=share,
        metavar="X",
        help="hide nodes of less support, such as 0.5 or 50%%; nodes below them are lifted",
    )
    parser.add_argument(
        "--features",
        type=whole(0),
        metavar="N",
        help="for every node the N columns in which it differs most, in standard deviations, and "
        "words of its texts, in log odds (default: 0; 3, if there are words)",
    )
    parser.add_argument(
        "--describe",
        nargs="?",
        const=ALL_TOP_NODES,
        metavar="NODE",
        help="say what sets a node (its number or name) apart, and its typical and borderline "
        "members; without NODE, every child of the root (--min-size, --features and --names apply)",
    )
    parser.add_argument(
        "--names", type=whole(0), default=8, metavar="N", help="names in a leaf (default: 8)"
    )
    parser.add_argument(
        "--width",
        type=whole(20),
        metavar="N",
        help="cut lines here (default: the terminal's width)",
    )
    _json(parser)


def _plot(commands) -> None:
    parser = _on_folder(commands, "plot", "draw a picture of a run (needs matplotlib)")
    parser.add_argument(
        "--kind",
        choices=PLOTS,
        help="what to draw (default: tree; dendrogram where components have no place on the tree)",
    )
    _dendrogram(parser, "draw")
    _output(parser, "the picture, by its ending .png, .svg or .pdf (default: DIR/KIND.png)")
    parser.add_argument(
        "--level",
        metavar="N",
        help="for coclustering: the level of the tree, or `component` (default: component)",
    )
    parser.add_argument("--dpi", type=whole(10), default=150, help="dots an inch (default: 150)")
    _json(parser)


def _html_report(commands) -> None:
    parser = _on_folder(
        commands,
        "report",
        "write a page of HTML about a run (needs matplotlib)",
        "Write one page of HTML about a run: pictures of tree and dendrogram, what sets the top\n"
        "branches apart, whether the chains agree, the oddest rows, settings and versions.\n"
        "The page needs no network. It links to an explorer of the run (see `bhmc explore`),\n"
        "which is written beside it as NAME-explorer.html.",
    )
    _output(parser, "the page (default: DIR/report.html)")
    _json(parser)


def _explore(commands) -> None:
    parser = _on_folder(
        commands,
        "explore",
        "write a page of HTML in which to look around in a run",
        _EXPLORE,
        _EXPLORE_EPILOG,
    )
    _output(parser, "the page (default: DIR/explorer.html)")
    parser.add_argument(
        "--compare",
        metavar="DIR|FILE",
        help="a tree to stand beside this one: another run folder, or a CSV with a label for each "
        "row (further columns: finer labels; the first column may name the rows)",
    )
    parser.add_argument(
        "--images",
        metavar="FILE",
        help="an image of each row: a .npy or .npz of shape (rows, height, width) or (rows, "
        "height, width, 3)",
    )
    parser.add_argument(
        "--rows",
        type=whole(1),
        default=20_000,
        metavar="N",
        help="rows in the page at most; of more it has a sample (default: 20,000)",
    )
    _json(parser)


def _predict(commands) -> None:
    parser = _on_folder(
        commands,
        "predict",
        "place new rows in the tree of a run",
        _PREDICT,
    )
    parser.add_argument("data", metavar="DATA", help="a table with the columns that were fitted")
    parser.add_argument(
        "--outliers",
        action="store_true",
        help="a further column outlier_score, from 0 to 1: 0.99 says that 99 %% of new rows of the "
        "model are more probable",
    )
    _output(parser, "the file to write: .npy, or CSV (default: print it)")
    _json(parser)
    _raw(parser)
    table = parser.add_argument_group("the table, where it differs from the one fitted")
    add_reading(table)
    add_blocks(table)


def _export(commands) -> None:
    parser = _on_folder(
        commands,
        "export",
        "write the tree or the draws for another program",
        "Write the tree or the draws for another program.\n\n"
        "  newick    tree with names, for programs that draw phylogenies\n"
        "  linkage   SciPy's linkage matrix, as .npy\n"
        "  json      tree with everything known of it\n"
        "  csv       one line a node\n"
        "  graphml   graph, for Gephi, Cytoscape, igraph (needs networkx)\n"
        "  arviz     draws, as NetCDF (needs arviz)",
    )
    parser.add_argument("--to", choices=EXPORTS, required=True, help="the format")
    _dendrogram(parser, "write")
    _output(parser, "the file to write", required=True)
    _json(parser)
    _raw(parser)


def _diagnose(commands) -> None:
    parser = _on_folder(
        commands,
        "diagnose",
        "say whether the chains of a run have converged",
        "Say whether the chains of a run have converged: R-hat and effective sample sizes of "
        "numbers\nthat do not depend on how nodes and components are labelled.",
    )
    _json(parser)


def _demo(commands) -> None:
    parser = _command(
        commands,
        "demo",
        "fit the bundled Zoo data and print the tree",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", default="bhmc-demo", help="folder (default: bhmc-demo)"
    )
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="default: 0")


def _prior(commands) -> None:
    parser = _command(
        commands,
        "prior",
        "describe what settings imply before any data",
        "Describe the trees that settings imply before any data are seen: how many nodes and\n"
        "components to expect.",
    )
    parser.add_argument("n", metavar="N", type=whole(1), help="number of data")
    parser.add_argument("--levels", type=whole(1), default=3, metavar="L", help="default: 3")
    add_concentrations(parser)
    parser.add_argument(
        "--samples", type=whole(2), default=200, metavar="N", help="trees drawn (default: 200)"
    )
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="default: 0")
    _json(parser)


def _reproduce(commands) -> None:
    parser = _command(
        commands,
        "reproduce",
        "run an experiment of the paper (needs matplotlib)",
        _REPRODUCE,
        _REPRODUCE_EPILOG,
    )
    parser.add_argument("experiment", choices=EXPERIMENTS, help="which one")
    parser.add_argument("--data", metavar="FILE", help="its data, where they do not come with bhmc")
    parser.add_argument(
        "--supplement",
        action="store_true",
        help="the settings of the paper's supplement (normal-inverse-Wishart) instead",
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="folder (default: bhmc-EXPERIMENT)")
    _experiment(parser)


def _compare(commands) -> None:
    parser = _command(
        commands,
        "compare",
        "run several methods on a table with classes (needs matplotlib)",
        _COMPARE,
        _COMPARE_EPILOG,
    )
    parser.add_argument("data", metavar="DATA", help="a table, one row a datum")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="folder for results")
    parser.add_argument(
        "--labels",
        type=columns,
        default=[],
        metavar="A,B",
        help="columns of classes, coarse to fine; no method sees them",
    )
    parser.add_argument("--path", metavar="COLUMN", help="column of category paths instead")
    parser.add_argument(
        "--separator", default=" > ", metavar="TEXT", help="in a path (default: ' > ')"
    )
    parser.add_argument(
        "--methods",
        type=columns,
        default=_DEFAULT_METHODS,
        metavar="A,B",
        help=f"default: {','.join(_DEFAULT_METHODS)}",
    )
    parser.add_argument(
        "--repeats",
        type=whole(1),
        default=1,
        metavar="R",
        help="runs of each method that a seed decides, with seeds N, N + 1, ... (default: 1)",
    )
    parser.add_argument(
        "--levels", type=whole(1), metavar="L", help="levels of bhmc's tree (default: 3)"
    )
    parser.add_argument(
        "--standardise", action="store_true", help="columns of mean 0 and variance 1, for all"
    )
    parser.add_argument(
        "--text",
        type=columns,
        metavar="A,B",
        help="columns of text whose words are the data, as TF-IDF; other columns are left out",
    )
    parser.add_argument("--words", metavar="A,B", help=argparse.SUPPRESS)  # the old name of --text
    parser.add_argument(
        "--sizes",
        type=sizes,
        default=[],
        metavar="N,N",
        help="also take the time of every method at these numbers of rows",
    )
    _experiment(parser)
    add_reading(parser.add_argument_group("the table"))


def _experiment(parser) -> None:
    """What all experiments share."""
    parser.add_argument(
        "--quick",
        action="store_true",
        help="far too few sweeps: shows that everything works, in seconds",
    )
    parser.add_argument(
        "--budget",
        type=minutes,
        default=15.0,
        metavar="MINUTES",
        help="time of a slow method, after which it stops with what it has (default: 15)",
    )
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="default: 0")
    parser.add_argument(
        "--jobs",
        type=jobs,
        default=-1,
        metavar="N",
        help="chains run at the same time (default: -1, as many as there are processors)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no messages, no progress bar")
    _json(parser)


def _completion(commands) -> None:
    parser = _command(
        commands,
        "completion",
        "print a script that completes commands in a shell (needs shtab)",
        "Print a script that completes the commands and options of bhmc in a shell (needs shtab).",
        "example:\n  bhmc completion bash > ~/.local/share/bash-completion/completions/bhmc",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
