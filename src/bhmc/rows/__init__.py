"""Where the rows live, and what a sampler may ask of them."""

from bhmc.rows.sources import open_rows

__all__ = ["open_rows"]
