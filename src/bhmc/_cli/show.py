"""`bhmc show` and `bhmc diagnose`: a run in the terminal."""

from dataclasses import fields
from typing import Any

import numpy as np

from bhmc import BHMC, Tree
from bhmc._cli.exit_codes import OK
from bhmc._cli.folder import RunFolder
from bhmc._cli.options import ALL_TOP_NODES
from bhmc._cli.output import counted, fitted, print_json, say, terminal_width
from bhmc._cli.records import said_of_sample
from bhmc._cli.results import features_shown, tree_text
from bhmc._estimator.view import DENDROGRAM, WHY_DENDROGRAM
from bhmc._validation.errors import RefusedError, refusals
from bhmc.tree import NodeDescription
from bhmc.tree.consensus import nearest_above, supported


def load_run(name: str) -> tuple[RunFolder, dict[str, Any], BHMC]:
    """A run folder, what its run.json says, and its model."""
    folder = RunFolder.open(name)
    record = folder.record()
    if not folder.model.exists():
        raise RefusedError(
            f"{folder.path} has no results yet: the run was stopped before its first draw, or is "
            f"still going. Go on with: bhmc fit --continue {folder.path}"
        )
    with refusals():
        model = BHMC.load(folder.model)
    if record["status"] != "done":
        say(f"This run is not finished: it has {count_draws(model)}.")
    if "rows_in_tree" in record.get("data", {}):
        say(said_of_sample(record["data"]))
    return folder, record, model


def say_view(model: BHMC, see: str, quiet: bool = False) -> None:
    """Where the model opens with the dendrogram: why, and what command shows the tree."""
    if model.view_ == DENDROGRAM:
        say(f"{WHY_DENDROGRAM} For the tree: {see}.", quiet=quiet)


def tree_of(model: BHMC, options, opens: bool = False) -> Tree:
    """The tree that is asked for: the tree, or the dendrogram of components.

    Where `opens` is true and none is asked for, it is what the model opens with.
    """
    if options.dendrogram or (opens and model.view_ == DENDROGRAM):
        return dendrogram_of(model)
    return model.tree_


def dendrogram_of(model: BHMC) -> Tree:
    """The dendrogram of components, or a sentence where an older model has none."""
    try:
        return model.dendrogram_
    except AttributeError as error:
        raise RefusedError(str(error)) from None


def count_draws(model: BHMC) -> str:
    """How many draws there are, in words."""
    made, chains = counted(model.draws_.n_draws, "draw"), model.draws_.n_chains
    return f"{made} of 1 chain" if chains == 1 else f"{made} of each of {chains} chains"


def show(options) -> int:
    """Print the tree."""
    _, record, model = load_run(options.folder)
    if options.describe is not None:
        return _describe(model, options)
    opens = not (options.tree or options.dendrogram)
    tree = tree_of(model, options, opens)
    if opens and not options.json:
        say_view(model, f"bhmc show {options.folder} --tree")
    if options.min_support is not None and tree.support is None:
        raise RefusedError("the support of nodes is not known in this run.")
    if options.json:
        print_json({"status": record["status"], "nodes": node_list(tree, options)})
        return OK
    with refusals():
        text = tree_text(
            tree,
            max_names=options.names,
            max_depth=options.depth,
            min_size=options.min_size,
            min_support=options.min_support,
            features=options.features,
        )
    print(fitted(text, terminal_width(options.width)))
    return OK


def _describe(model: BHMC, options) -> int:
    """Print what is in a node, or in each child of the root."""
    tree, wanted = model.tree_, options.describe
    if wanted == ALL_TOP_NODES:
        nodes = tree.children(0).tolist()
        nodes = [node for node in nodes if tree.sizes[node] >= options.min_size]
    else:
        nodes = [int(wanted) if wanted.isascii() and wanted.isdigit() else wanted]
    with refusals():
        found = [
            model.describe(node, n_features=options.features or 5, n_members=options.names)
            for node in nodes
        ]
    if options.json:
        print_json([_as_dict(one) for one in found])
    else:
        width = terminal_width(options.width)
        print("\n\n".join(fitted(repr(one), width) for one in found))
    return OK


def _as_dict(description: NodeDescription) -> dict[str, Any]:
    """A description in words of JSON."""
    found = {field.name: getattr(description, field.name) for field in fields(description)}
    return {
        name: [one._asdict() for one in value] if isinstance(value, tuple) else value
        for name, value in found.items()
    }


def node_list(tree, options) -> list[dict[str, Any]]:
    """A dict for every node that is shown; its parent is the nearest node above that is shown."""
    n_features = features_shown(tree, options.features)
    table = tree.nodes(n_features)
    if not n_features:
        del table["features"]
    shown = np.ones(tree.n_nodes, dtype=bool)
    shown &= tree.sizes >= options.min_size
    if options.depth is not None:
        shown &= tree.levels <= options.depth
    if options.min_support is not None:
        shown &= supported(tree, options.min_support)
    shown[0] = True
    table["parent"] = nearest_above(tree, shown)
    return [
        {name: column[node] for name, column in table.items()} for node in np.flatnonzero(shown)
    ]


def diagnose(options) -> int:
    """Print R-hat and effective sample sizes."""
    from bhmc.posterior.diagnostics import diagnose as diagnosed

    _, _, model = load_run(options.folder)
    diagnostics = diagnosed(model.draws_)
    if options.json:
        print_json(
            {
                "converged": diagnostics.converged,
                "problems": list(diagnostics.problems),
                "table": diagnostics.table,
            }
        )
    else:
        print(diagnostics)
    return OK
