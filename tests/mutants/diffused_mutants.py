"""Deliberately wrong versions of the diffused transition, and where each must show."""

from tests.mutants.diffused_move_mutants import MOVE_MUTANTS
from tests.mutants.diffused_number_mutants import NUMBER_MUTANTS
from tests.mutants.diffused_parts import DiffusedMutant
from tests.mutants.diffused_row_mutants import ROW_MUTANTS

DIFFUSED_MUTANTS = ROW_MUTANTS + MOVE_MUTANTS + NUMBER_MUTANTS


def find(name: str) -> DiffusedMutant:
    """The mutant of that name."""
    return next(mutant for mutant in DIFFUSED_MUTANTS if mutant.name == name)
