"""How was the bundled embedding of the WordNet glosses made?

    python -m studies.wordnet_embedding FILE [-o wordnet_things_minilm40.npz]

FILE is a `.npy` of 384 columns, one row for each row of `load_wordnet_things`: the embedding of
"title. description" by the model all-MiniLM-L6-v2, of unit length. The mean is taken from the rows,
which are then turned into their 40 leading principal components, each with its largest entry
positive in the model's columns, and written as float16. What the reduction keeps of the variance,
and how much rounding changes, is printed.
"""

import argparse
from pathlib import Path

import numpy as np

from bhmc.datasets import load_wordnet_things
from bhmc.preprocessing import OptimalThresholdPCA

COLUMNS = 40


def reduced(embedding):
    """(n, 40) principal components of an embedding, and the share of its variance they keep."""
    pca = OptimalThresholdPCA(n_components=COLUMNS).fit(embedding)
    directions = pca.components_
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(COLUMNS), largest])
    squares = pca.singular_values_**2
    return pca.transform(embedding) * signs, squares[:COLUMNS].sum() / squares.sum()


def main(arguments: list[str] | None = None) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="the embedding, .npy")
    parser.add_argument("-o", "--output", type=Path, default=Path("wordnet_things_minilm40.npz"))
    options = parser.parse_args(arguments)
    embedding = np.load(options.file).astype(float)
    if len(embedding) != len(load_wordnet_things().data):
        parser.error(f"{options.file} has {len(embedding)} rows, not one for each gloss.")
    table, share = reduced(embedding)
    rounded = table.astype(np.float16)
    np.savez_compressed(options.output, embedding=rounded)
    error = np.abs(rounded - table).max()
    print(f"{share:.1%} of the variance; rounding changes an entry by {error:.1g} at most")
    print(f"{options.output}: {options.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
