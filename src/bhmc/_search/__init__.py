"""Random search of settings, as in the paper's supplement: `bhmc.search`."""

from bhmc._search.result import SearchResult
from bhmc._search.run import search

__all__ = ["SearchResult", "search"]
