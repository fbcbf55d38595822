"""What it costs to look for the quotations of an answer in what its seat was shown.

    uv run python benchmarks/quotations.py [--characters 200000] [--rounds 15] [--json FILE]

Cases of one long message and of many short ones, in English, in Japanese and with letters of several code points, are
opened . Answers quote eight times: two quotations of each result. The first answer of a case also reads
the items out of the prompt and makes the normal form of the items that it needs; each further answer of the debate
finds them made. Milliseconds of the processor, medians of rounds in turn, and in brackets the ratio to the plain pass
over the same characters by the standard library (canonical decomposition, caseless, without white space), measured
beside them. Then the normal form of texts that are hostile to it, each twice as long as the one before: where time is
linear, the milliseconds for a million characters stay the same.
"""

import argparse
import json
import statistics
import time
import unicodedata
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

from jury_debate.assignment import Assignment
from jury_debate.debate import Debate
from jury_debate.panel_spec import PanelSpec
from jury_debate.resolved_panel import resolve
from jury_debate.rules_1.answers import parse_answer
from jury_debate.rules_1.evidence import ShownEvidence, searched_items
from jury_debate.rules_1.quotations import SearchedItems, SearchedText
from jury_debate.rules_registry import newest_rules
from jury_debate.step_outcome import ParsedAnswer
from jury_events.case import Case, ExecutionResult, QuestionSpec, Scenario
from jury_events.parts import PartBuffer
from jury_events.transcript import Message, Transcript
from jury_events.verdict import REVIEW

WORDS: dict[str, str] = {
    "English": "the agent refunded order 17 to the card on record, then it looked at the invoice",
    "Japanese": "担当者は注文17の返金を確認し、登録済みのカードへ「全額」を払い戻しました。",
    "decomposed": unicodedata.normalize(
        "NFD", "l’agent a remboursé la commande numéro dix-sept, déjà vérifiée à l’été"
    ),
}
LENGTHS = {"one message": 1, "200 messages": 200}
SECRET = bytes(32)
HOSTILE: dict[str, tuple[str, str]] = {
    "alternating combining marks": ("\u0301\u0316", "abc"),
    "letters of several letters": ("ß", "sss"),
    "characters without spaces, apart": ("漢 ", "漢漢漢a"),
    "hyphens, apart": ("- ", "---"),
    "white space": (" \n", "abc"),
}
"""What a text repeats, and a quotation that is not in it."""
DOUBLED = (250_000, 500_000, 1_000_000, 2_000_000)
"""Characters."""


class Check(NamedTuple):
    """A case that was opened, and an answer to check."""

    parts: PartBuffer
    assignment: Assignment
    answer: ParsedAnswer

    def items(self) -> SearchedItems:
        """The items of the case, read anew."""
        spec = self.assignment.spec.evidence
        assert spec is not None
        (case,) = spec.case
        return searched_items(self.parts.content(case.part), None, spec.marker)

    def run(self, items: SearchedItems) -> list[str]:
        """Check the answer against the items; the results."""
        spec = self.assignment.spec.evidence
        assert spec is not None
        shown = ShownEvidence(spec, self.assignment.marker, self.parts.content, items)
        return [entry.result for entry in shown.checked_quotations(self.answer.quotations or ()).entries]


def opened(words: str, characters: int, messages: int) -> tuple[Check, str]:
    """A case of so many characters in so many messages, eight quotations of it, and its text."""
    length = characters // messages
    # Every message ends with words of its own, so that a search goes through all the characters.
    texts = ["".join(islice(cycle(f"{words} "), length)) + f" Number {n} closes." for n in range(messages)]
    items = tuple(Message(kind="assistant", origin="model", text=text) for text in texts)
    case = Case(
        case_id="c",
        scenarios=(
            Scenario(
                scenario_id="s",
                question=QuestionSpec(prompt="Refund it."),
                execution=ExecutionResult(transcript=Transcript(items=items), response="Everything was done."),
            ),
        ),
    )
    panel = resolve(PanelSpec.model_validate({"seats": [{"model": "simulated/juror"}]})).panel
    parts = PartBuffer(lambda: bytes(16))
    rules = newest_rules()
    begun = rules.open_debate(case, panel, debate_id="d", run_id="r", secret=SECRET, parts=parts, prompts_version=1)
    debate = Debate(begun, SECRET, parts)
    debate.begin()
    last = messages + 1
    quotes = [
        (last, f"Number {messages - 1} closes."),
        (last, words[:40]),
        (last, f"NUMBER  {messages - 1}  closes…"),
        (last, f"“number {messages - 1}\tCLOSES”"),
        (last, "Everything was done."),
        (1, f"Number {messages - 1} closes."),
        (last, "The agent never asked the customer for anything at all."),
        (last, "NUMBER  none  closes"),
    ]
    entries = [
        {"item": item, "quote": quote, "says": "against", "criterion": None, "seat": None} for item, quote in quotes
    ]
    assignment = debate.assign(debate.pending_steps()[0])
    answer = parse_answer(_answer(assignment, entries), assignment.spec)
    assert isinstance(answer, ParsedAnswer), answer
    return Check(parts, assignment, answer), "\n".join(texts)


def _answer(assignment: Assignment, entries: list[dict[str, Any]]) -> bytes:
    spec = assignment.spec
    fields = {
        "ballot": spec.ballot,
        "verdict": REVIEW.value,
        "scores": {one.name: one.maximum for one in spec.rubric.dimensions},
        "confidence": 0.5,
        "rationale": "It is not clear.",
        "statement": None,
        "scenarios": None,
        "evidence": entries,
        "decisive_item": None,
    }
    return json.dumps(fields).encode()


def _plain(text: str) -> None:
    "".join(unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold()).split())


def _timed(run: Callable[[], object]) -> float:
    """Milliseconds of the processor."""
    start = time.process_time_ns()
    run()
    return (time.process_time_ns() - start) / 1e6


def measured(check: Check, text: str, rounds: int) -> dict[str, float]:
    """Medians of rounds in which the plain pass, a first answer and a further answer take turns."""
    items = check.items()
    plain, first, further = [], [], []
    for _ in range(rounds):
        plain.append(_timed(lambda: _plain(text)))
        first.append(_timed(lambda: check.run(check.items())))
        further.append(_timed(partial(check.run, items)))
    found = {"plain": statistics.median(plain), "first": statistics.median(first)}
    return {**found, "further": statistics.median(further)}


def growth(repeated: str, quote: str, rounds: int) -> list[float]:
    """Milliseconds for a million characters, the median of rounds, of a text of each length."""
    found = []
    for length in DOUBLED:
        text = f"a{repeated * (length // len(repeated))}"
        times = [_timed(lambda text=text: SearchedText(text).normalised(quote)) for _ in range(rounds)]  # type: ignore[misc]
        found.append(statistics.median(times) / length * 1e6)
    return found


def main() -> None:
    """Print a row for each case, and for each hostile text."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--characters", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    print(f"{'case':<26} {'plain pass':>10} {'first answer':>18} {'further answer':>18}")
    for language, words in WORDS.items():
        for length, messages in LENGTHS.items():
            check, text = opened(words, arguments.characters, messages)
            results = check.run(check.items())
            assert set(results) == {"verified", "normalised", "elsewhere", "not_found"}, results
            found = measured(check, text, arguments.rounds)
            rows.append({"case": f"{language}, {length}", **found})
            times = (f"{found[name]:9.1f} ({found[name] / found['plain']:5.2f})" for name in ("first", "further"))
            print(f"{rows[-1]['case']:<26} {found['plain']:10.1f} {' '.join(f'{one:>18}' for one in times)}")
    print(f"\n{'ms for a million characters':<36}" + "".join(f"{length:>12,}" for length in DOUBLED))
    for name, (repeated, quote) in HOSTILE.items():
        times = growth(repeated, quote, max(1, arguments.rounds // 5))
        rows.append({"case": name, "milliseconds_per_million": dict(zip(map(str, DOUBLED), times, strict=True))})
        print(f"{name:<36}" + "".join(f"{one:12.0f}" for one in times))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
