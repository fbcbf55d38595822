"""The three verdict words stand in `jury_events.verdict` and in the scale `agent-safety`.

Other code means an outcome (`PASS`, `REVIEW`, `FAIL`), a label of the panel's scale, or both. The words come back only
where bytes, fields or texts that are released have them: `ALLOWED` names these places.
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from jury_events import Verdict

ROOT = Path(__file__).parent.parent
SEARCHED = (*sorted(ROOT.glob("*/jury_*/")), ROOT / "benchmarks", ROOT / "examples")
NO_CODE = {".md", ".png", ".woff2", ".ico", ".pyc", ".parquet", ".db"}

ALLOWED: tuple[tuple[str, str, str], ...] = (
    # A path or its beginning, a pattern of the line, the reason.
    ("events/jury_events/verdict.py", "", "the one place: the words, and the names that other code has for them"),
    ("events/jury_events/scales/agent-safety.toml", "", "the scale of panels without one of their own"),
    ("debate/jury_debate/rules_1/votes.py", r"bands\.", "the fields of `Bands` in recorded panels"),
    (
        "debate/jury_debate/prompts_1/",
        "Security Gate|セキュリティゲート",
        "a status of Security Gate",
    ),
    ("migrations/jury_migrations/versions/", "", "columns as they were created"),
    ("events/jury_events/panel.py", "safe_pass|needs_review", "the fields of `Bands` in recorded panels"),
    ("replay/jury_replay/auditor.py", "^bands ", "the same fields: the auditor imports nothing of the product"),
    ("store/jury_store/debate_rows.py", r"^    \w+: int( = 0)?$", "fields of public rows, read from the columns"),
    ("web/jury_web/api/debates.py", r"^    \w+: int$", "fields of JSON answers"),
    (
        "judge/jury_judge/reviews/review_queue.py",
        "^UNDECIDED|^Why",
        "a reason, in the JSON of the queue and of webhooks",
    ),
    ("web/jury_web/pages/page_labels.py", "why_needs_review", "the text of that reason, found by its word"),
    ("cases/jury_cases/example_files/", '"test_id"', "a status of Security Gate, in a record of an example"),
    ("cli/jury_cli/options.json", '"help"|"choices"', "what a user reads and types, made of the models"),
    ("benchmarks/inspect_debates.py", "^VERDICTS", "it runs in an environment without the product"),
    ("examples/", "fail_if:|--fail-if|--metric", "what a user writes"),
)

_WORD = re.compile("|".join(verdict.value for verdict in Verdict), re.IGNORECASE)


def found_in(folder: Path) -> Iterator[tuple[str, int, str]]:
    """Lines with one of the words, in any case: path, number, line."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in NO_CODE or "__pycache__" in path.parts or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if _WORD.search(line):
                yield path.relative_to(ROOT).as_posix(), number, line


def is_allowed(path: str, line: str, place: str, pattern: str) -> bool:
    return path.startswith(place) and re.search(pattern, line) is not None


def test_the_three_words_stand_in_one_place_of_the_code_and_in_every_allowed_one() -> None:
    used: set[str] = set()
    elsewhere = []
    for path, number, line in chain.from_iterable(map(found_in, SEARCHED)):
        places = [place for place, pattern, _reason in ALLOWED if is_allowed(path, line, place, pattern)]
        used.update(places)
        if not places:
            elsewhere.append(f"{path}:{number}: {line.strip()}")

    assert [] == elsewhere
    assert used == {place for place, _pattern, _reason in ALLOWED}
