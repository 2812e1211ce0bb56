"""Colours, size of letters and percentages that pictures of other rooms share with these."""

from bhmc.plotting._colors import INK, PALETTE
from bhmc.plotting._text import FONT_SIZE, percent

__all__ = ["FONT_SIZE", "INK", "PALETTE", "percent"]
