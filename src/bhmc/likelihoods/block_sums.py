"""Sums over blocks of rows in a fixed order: neighbours in pairs, then pairs of pairs.

The last digits of a sum depend on the order of its terms. So blocks have a fixed height and are
added in the order of one binary tree, whoever adds them: one process, many threads, or many
machines, each of which adds up what it holds and hands out few pieces.
"""

import operator
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

# Rows of a block.
ROWS_PER_BLOCK = 2**14


class Piece(NamedTuple):
    """The sum of blocks first, ..., first + size - 1; size is a power of 2 that divides first."""

    first: int
    """The number of its first block."""
    size: int
    """How many blocks it holds."""
    value: Any
    """Their sum."""


class BlockSums:
    """Values of blocks that follow one another, added as they come.

    Parameters
    ----------
    first : int, default=0
        The number of the first block that will be added.
    plus : function, default=operator.add
        Adds two values; the left one is of blocks that come before those of the right one.
    """

    def __init__(self, first: int = 0, plus: Callable[[Any, Any], Any] = operator.add):
        self.pieces: list[Piece] = []
        self._next, self._plus = first, plus

    def add(self, value: Any) -> None:
        """The value of the next block.

        Parameters
        ----------
        value : object
            What `plus` takes.
        """
        self.add_piece(Piece(self._next, 1, value))

    def add_piece(self, piece: Piece) -> None:
        """The sum of the next blocks, made elsewhere.

        Parameters
        ----------
        piece : Piece
            It begins where the last one ended.
        """
        if piece.first != self._next:
            raise ValueError(f"block {self._next} comes next, got block {piece.first}.")
        self._next += piece.size
        self.pieces.append(piece)
        while self._last_two_are_a_pair():
            right, left = self.pieces.pop(), self.pieces.pop()
            value = self._plus(left.value, right.value)
            self.pieces.append(Piece(left.first, 2 * left.size, value))

    def total(self) -> Any:
        """The sum of all blocks so far, at least one; the last pieces are added first."""
        value = self.pieces[-1].value
        for piece in reversed(self.pieces[:-1]):
            value = self._plus(piece.value, value)
        return value

    def _last_two_are_a_pair(self) -> bool:
        if len(self.pieces) < 2:
            return False
        left, right = self.pieces[-2:]
        return left.size == right.size and left.first % (2 * left.size) == 0


def sum_of_blocks(values: Iterable[Any], plus: Callable[[Any, Any], Any] = operator.add) -> Any:
    """The sum of the values of blocks 0, 1, 2, ..., in the fixed order.

    Parameters
    ----------
    values : iterable
        One for each block, at least one.
    plus : function, default=operator.add
        Adds two values.
    """
    sums = BlockSums(plus=plus)
    for value in values:
        sums.add(value)
    return sums.total()


def sum_of_pieces(pieces: Iterable[Piece], plus: Callable[[Any, Any], Any] = operator.add) -> Any:
    """The sum of all blocks from the pieces of those who hold them: the bits of `sum_of_blocks`.

    Parameters
    ----------
    pieces : iterable of Piece
        In the order of their blocks, without a gap.
    plus : function, default=operator.add
        Adds two values.
    """
    sums = BlockSums(plus=plus)
    for piece in pieces:
        sums.add_piece(piece)
    return sums.total()
