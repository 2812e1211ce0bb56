"""Bundled data, readers of tables and generators, in the style of `sklearn.datasets`.

Where classes have a hierarchy, `levels` holds the class of every row at levels 1, 2, ..., and
`level_names` what the classes of each level are called. Sources and licences: docs/datasets.md.
"""

from bhmc.datasets._animals import load_animals
from bhmc.datasets._diffused import make_diffused_hierarchy
from bhmc.datasets._images import load_digits, load_fashion_mnist_sample
from bhmc.datasets._make import make_hierarchy
from bhmc.datasets._texts import load_products, load_wordnet_things
from bhmc.datasets._zoo import load_zoo

__all__ = [
    "load_animals",
    "load_digits",
    "load_fashion_mnist_sample",
    "load_products",
    "load_wordnet_things",
    "load_zoo",
    "make_diffused_hierarchy",
    "make_hierarchy",
]
