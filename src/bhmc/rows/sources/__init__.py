"""Tables whose rows are read in blocks from where they are: files, memory maps, chunked arrays."""

from bhmc.rows.sources.arrays import ArraySource
from bhmc.rows.sources.opening import open_rows
from bhmc.rows.sources.pieces import Pieces
from bhmc.rows.sources.protocol import Source, is_source

__all__ = ["ArraySource", "Pieces", "Source", "is_source", "open_rows"]
