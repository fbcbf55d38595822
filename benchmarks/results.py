"""What juries, pairs, ladders and single judges do on public recorded judges: prints `docs/results.md`.

    uv run python benchmarks/results.py FOLDER [--check docs/results.md] [--sets FOLDER]

FOLDER has the files that the definitions in `benchmarks/results/` name, each known by its SHA-256; nothing is fetched,
and no model is called. `--check` prints nothing, and says where a page differs first: exit code 1. A file that is
missing, is another one or cannot be read is refused in one line: exit code 2.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from recorded_judges import Refused, definitions, read_set
from recorded_results import results, rounds_of
from results_page import page

from jury_events.errors import JuryError

SETS = Path(__file__).parent / "results"
DIFFERS, REFUSED = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="of the files that the definitions name")
    parser.add_argument("--check", type=Path, metavar="PAGE", help="say where PAGE differs, and print nothing else")
    parser.add_argument("--sets", type=Path, default=SETS, help="the definitions")
    asked = parser.parse_args(arguments)
    try:
        # Every file is looked at before the first figure is counted.
        read = [read_set(one, asked.folder) for one in definitions(asked.sets)]
        judged, discussed = ([one for one in read if one.recorded.rounds is rounds] for rounds in (False, True))
        printed = page([results(one) for one in judged], [rounds_of(one) for one in discussed])
    except (Refused, JuryError) as error:
        print(f"results: {error}", file=sys.stderr)
        return REFUSED
    if asked.check is None:
        sys.stdout.write(printed)
        return 0
    return _compared(asked.check, printed)


def _compared(path: Path, printed: str) -> int:
    try:
        written = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        print(f"results: {path}: {error}", file=sys.stderr)
        return REFUSED
    for number, (old, new) in enumerate(zip_longest(written.splitlines(), printed.splitlines()), 1):
        if old != new:
            print(f"results: {path}:{number} differs\n  there:   {old}\n  printed: {new}", file=sys.stderr)
            return DIFFERS
    return 0


if __name__ == "__main__":
    sys.exit(main())
