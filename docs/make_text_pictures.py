"""The tree of the WordNet glosses by their sentence embeddings: `make pictures`.

    python -m docs.make_text_pictures

Prints the top branches with their words, as docs/text.md has them, and draws them.
"""

import matplotlib.pyplot as plt
from docs.cached_fits import cached_fit
from docs.sketch import save

from bhmc import BHMC, plotting
from bhmc.datasets import load_wordnet_things

SETTINGS = {
    "transition": "diffused",
    "likelihood": "shaped_gaussian",
    "n_levels": 3,
    "random_state": 0,
}
# Words in the names of nodes, by level: there is room for no more.
WORDS = {1: 1, 2: 1}


def named_by_words(model: BHMC) -> BHMC:
    """The model with the words of nodes as their names."""
    tree, names = model.tree_, {}
    for node in range(1, tree.n_nodes):
        words = tree.top_features(node, WORDS.get(int(tree.levels[node]), 1))
        if tree.levels[node] in WORDS and words:
            names[node] = ", ".join(word for word, _ in words)
    return model.rename(names)


def main() -> None:
    """Fit, print and draw."""
    things = load_wordnet_things(embedded=True)
    model = cached_fit("wordnet-embedded", things.embedding, **SETTINGS).add_words(things.data)
    print(model.tree_.to_text(features=5, max_depth=1, max_names=0))
    _, ax = plt.subplots(figsize=(15, 4.2))
    plotting.plot_icicle(named_by_words(model).tree_.prune(10), ax=ax)
    save(ax.figure, "wordnet-words")


if __name__ == "__main__":
    main()
