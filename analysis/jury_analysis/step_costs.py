"""What was spent on each seat's step in each round: dollars, calls, tokens."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.scale import plain_text
from jury_analysis.vote_matrix import Floats, VoteMatrix

MEASURES = ("cost", "calls", "tokens")


class StepCosts(NamedTuple):
    """[units, rounds, seats]; the last place of the seats is the final judge. 0: no such step; nan: not recorded."""

    cost: Floats
    """US dollars."""
    calls: Floats
    tokens: Floats
    """Input and output together."""


def step_costs(table: pa.Table, matrix: VoteMatrix) -> StepCosts:
    """The costs of the ballots, in the order of the units and seats of a matrix of the same table."""
    unit = pc.index_in(plain_text(table["debate_id"]), value_set=matrix.debates.cast(pa.string())).to_numpy()
    names = pa.array(matrix.seats, pa.string())
    seat = pc.fill_null(pc.index_in(plain_text(table["seat"]), value_set=names), len(matrix.seats)).to_numpy().copy()
    judge = pc.equal(plain_text(table["role"]), "judge").to_numpy(zero_copy_only=False)
    seat[judge] = len(matrix.seats)
    # The final judge is asked once, after however many rounds.
    number = np.where(judge, 0, table["round"].to_numpy())
    shape = (matrix.units, int(number.max(initial=0)) + 1, len(matrix.seats) + 1)

    def placed(values: Floats) -> Floats:
        found = np.zeros(shape)
        found[unit, number, seat] = values
        return found

    def column(name: str) -> Floats:
        values: Floats = table[name].cast(pa.float64()).to_numpy()
        return values

    return StepCosts(
        cost=placed(column("cost")),
        calls=placed(column("calls")),
        tokens=placed(column("input_tokens") + column("output_tokens")),
    )
