"""A corpus of recorded debates as a regression test of today's rules and prompts."""

from collections.abc import AsyncGenerator, Generator, Sequence
from pathlib import Path

from jury_debate.rules_registry import rules_of
from jury_events.conditions import Condition
from jury_judge.blocking import BlockingWork
from jury_judge.recorded_debates.grids import grid_of
from jury_replay.cassettes.reading import is_chosen
from jury_replay.cassettes.writing import cassettes_in
from jury_replay.errors import CassetteError
from jury_replay.regression import Regressed, accept, regress


class Corpus(BlockingWork):
    """Cassettes, each replayed from its recorded answers; no model is called.

    Args:
        paths: cassettes, and folders of cassettes.
        where: only the cassettes whose cases meet all of these conditions.
        rules: the version of the rules; None: today's. Prompts are today's.
        calibration: a file that `jury calibrate` wrote, or `off`: replay under it instead of the recorded one.
        threads: as of `Records`.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        where: Sequence[Condition] = (),
        rules: int | None = None,
        calibration: str | None = None,
        threads: bool = True,
    ) -> None:
        super().__init__(threads=threads)
        self._paths = paths
        self._where = where
        self._rules = rules
        self._calibration = calibration

    def regress(self) -> AsyncGenerator[Regressed, None]:
        """Replay every cassette, by path, and compare verdict, score, events and prompts with what is expected."""
        return self._steps(self._regressed)

    async def accept(self, found: Regressed) -> None:
        """Expect these differences from now on: they are written beside the cassette."""
        await self._blocking(accept, found)

    def _regressed(self) -> Generator[Regressed, None, None]:
        rules_of(self._rules)
        setting = None if self._calibration is None else grid_of({"calibration": self._calibration}).settings[0]
        cassettes = [path for path in sorted({*cassettes_in(self._paths)}) if is_chosen(path, self._where)]
        if not cassettes:
            raise CassetteError(f"no cassette has {' and '.join(map(str, self._where))}; choose otherwise")
        for path in cassettes:
            with self._offline():
                found = regress(path, self._rules, setting)
            yield found
