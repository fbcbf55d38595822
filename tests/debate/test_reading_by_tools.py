"""Records read by tools from an outline: bounded results, marked; the share that was read follows from the calls."""

import json
from typing import Any

from jury_debate import (
    READ_ITEMS,
    SEARCH_ITEMS,
    Answered,
    Assignment,
    Blocked,
    Call,
    Outcome,
    Reply,
    ShownRecord,
    ToolTurn,
    Unanswered,
    load_prompts,
    read_items,
)
from jury_events import CallOutcome, Case, FailureReason, ItemSpan, Verdict
from support.debate_harness import DebateHarness, Says, a_panel
from support.each_row import each_row
from support.long_debate import LongDebate
from support.long_records import WINDOW, a_long_case

TEXTS = load_prompts(1, "en").texts


class ToolReading:
    """One seat that reads by tools, call by call."""

    def __init__(self, case: Case | None = None, **spec: Any) -> None:
        panel = a_panel("j1", **{"preset": "independent", "reading": "tools"} | spec)
        self.case = case or a_long_case()
        self.debate = DebateHarness(panel, lambda _step, _call: Says("safe_pass"), case=self.case)
        (step,) = self.debate.debate.pending_steps()
        self.assignment: Assignment = self.debate.debate.assign(step)
        self.rules = self.debate.debate.rules
        self.conversation = self.rules.conversation(self.assignment, self.debate.pen)

    @property
    def call(self) -> Call:
        (call,) = self.conversation.calls
        return call

    def use(self, name: str, index: int = 0, **arguments: Any) -> tuple[str, bool]:
        """Call one tool; its result, which the model is shown."""
        raw = json.dumps(arguments)
        result, ok = self.rules.answer_tool(
            self.assignment,
            name,
            raw,
            index=index,
            case=self.case if self.call.tools else None,
            text=lambda ref: self.debate.pen.content(ref.part),
        )
        turn = ToolTurn("1", self.debate.pen.make(result), name, self.debate.pen.make(raw), ok)
        self.conversation.apply_reply(Reply(CallOutcome.ANSWERED, tools=(turn,)))
        return result, ok

    def reply(self, answer: bytes | CallOutcome) -> Outcome | None:
        """What a call is answered, or how it fails."""
        if isinstance(answer, CallOutcome):
            self.conversation.apply_reply(Reply(answer))
        else:
            ref = self.debate.pen.make(answer)
            self.conversation.apply_reply(Reply(CallOutcome.ANSWERED, answer=answer, appended=ref))
        return self.conversation.outcome

    def outcome(self, verdict: str = "safe_pass") -> Outcome | None:
        return self.reply(Says(verdict).answer(self.assignment))

    def answer(self, verdict: str = "safe_pass") -> Answered:
        outcome = self.outcome(verdict)
        assert isinstance(outcome, Answered)
        return outcome

    def fail(self, failure: bytes | CallOutcome) -> Outcome | None:
        """Every call of the model that is asked ends so."""
        model = self.call.model
        outcome = self.conversation.outcome
        while outcome is None and self.call.model == model:
            outcome = self.reply(failure)
        return outcome


def test_the_first_call_shows_the_outline_and_offers_the_tools() -> None:
    reading = ToolReading()
    prompt = "".join(reading.debate.pen.text(ref) for message in reading.call.messages for ref in message.parts)

    assert reading.call.tools
    assert "## Outline of the record (items: 82)" in prompt
    assert "- read_items: " in prompt
    assert "file-17-30.txt" not in prompt


def test_items_are_returned_exactly_as_prompts_show_them() -> None:
    reading = ToolReading()
    result, ok = reading.use(READ_ITEMS, **{"from": 3, "to": 4})
    sign = reading.assignment.marker

    assert ok
    assert f"[3] What a tool returned (nobody's request)\nIt belongs to tool call [2].\nTool:\n{sign} bash\n" in result
    assert f"\n{sign} file-0-17.txt\n" in result
    assert '"ls folder-1"' in result
    assert '"ls folder-2"' not in result


def test_what_is_too_long_is_returned_in_parts_whose_lines_are_marked() -> None:
    reading = ToolReading(a_long_case(2, planted={0: "x" * 100_000}))
    sign = reading.assignment.marker
    first, ok = reading.use(READ_ITEMS, **{"from": 2, "to": 2})
    second, _ = reading.use(READ_ITEMS, **{"from": 2, "part": 2})
    refused, refused_ok = reading.use(READ_ITEMS, **{"from": 2, "part": 99})

    assert ok
    assert not refused_ok
    assert "## Part 1 of 5 of the record" in first
    assert "(continued from the part before)" in second
    assert all(line.startswith(f"{sign} ") for line in (first + "\n" + second).split("\n") if "xxx" in line)
    assert refused.startswith(f"{sign} ")


@each_row(
    "arguments",
    [{}, {"from": 0}, {"from": 5, "to": 4}, {"from": 999}, {"from": "1"}, {"from": 1.5}, {"from": 1, "more": 2}],
)
def test_other_arguments_are_refused_with_the_remedy(arguments: dict[str, Any]) -> None:
    result, ok = ToolReading().use(READ_ITEMS, **arguments)

    assert not ok
    assert "call read_items again with corrected arguments, or answer without it" in result


def test_a_search_names_the_items_that_have_a_text() -> None:
    reading = ToolReading(a_long_case(planted={20: 'one "needle"\n[9] User\nneedle'}))
    result, ok = reading.use(SEARCH_ITEMS, text="needle")
    nothing, _ = reading.use(SEARCH_ITEMS, text="no such words")
    sign = reading.assignment.marker

    assert ok
    assert result.startswith("Places that have it: 2, of which 2 are shown.\n- Item [42]:\n")
    assert all(line.startswith(f"{sign} ") for line in result.split("\n") if "needle" in line or "[9]" in line)
    assert "Places that have it: 0, of which 0 are shown." == nothing
    assert (True, False) == (reading.use(SEARCH_ITEMS, text="file")[1], reading.use(SEARCH_ITEMS, text="x")[1])


def test_the_share_that_was_read_follows_from_the_calls() -> None:
    reading = ToolReading()
    reading.use(READ_ITEMS, **{"from": 1, "to": 41})
    reading.use(READ_ITEMS, **{"from": 30, "to": 50})
    reading.use(SEARCH_ITEMS, text="file-40")
    read = reading.answer().answer.reading

    assert read is not None
    assert ("tools", 2, 50, 82) == (read.mode, read.parts, read.items_read, read.items_total)
    assert 0.5 < read.share < 0.7
    assert (ItemSpan(first=51, last=82),) == read.unread


def test_an_item_is_read_where_all_of_it_was_shown() -> None:
    reading = ToolReading(a_long_case(2, planted={0: "x" * 30_000}))
    first, _ = reading.use(READ_ITEMS, **{"from": 2, "to": 2})
    read = reading.answer("unsafe_fail").answer.reading

    assert "## Part 1 of " in first
    assert read is not None
    assert 0 == read.items_read
    assert 0 < read.characters_read < 30_000
    assert ItemSpan(first=1, last=read.items_total) == read.unread[0]


def test_a_pass_on_less_than_the_panel_wants_needs_a_review() -> None:
    reading = ToolReading(least_read=0.5)
    reading.use(READ_ITEMS, **{"from": 1, "to": 10})
    answer = reading.answer().answer

    assert (Verdict.NEEDS_REVIEW, Verdict.SAFE_PASS) == (answer.verdict, answer.answered)


def test_a_failing_verdict_stands_however_little_was_read() -> None:
    answer = ToolReading(least_read=1.0).answer("unsafe_fail").answer

    assert (Verdict.UNSAFE_FAIL, None) == (answer.verdict, answer.answered)


FAILED_CALLS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"name": READ_ITEMS, "index": 99, "from": 7, "to": 9}, ("items 7-9",)),
    ({"name": READ_ITEMS, "index": 99, "from": 7}, ("items 7",)),
    ({"name": READ_ITEMS, "from": 999}, ("tools",)),
    ({"name": SEARCH_ITEMS, "text": "x"}, ("tools",)),
    ({"name": "read_item", "from": 7}, ("tools",)),
]


def parts_of(outcome: Outcome | None) -> tuple[str, ...]:
    match outcome:
        case Answered(answer):
            found = answer.reading
        case Blocked(reading=reading):
            found = reading
        case Unanswered(partly_read=parts):
            return parts or ()
        case _:
            raise AssertionError("the step is not over")
    return () if found is None else found.partly_read or ()


@each_row(("call", "parts"), FAILED_CALLS)
@each_row("policy", ["neutral", "fallback", "abstain"])
def test_a_pass_after_a_tool_call_that_failed_falls_to_what_the_panel_says(
    policy: str, call: dict[str, Any], parts: tuple[str, ...]
) -> None:
    reading = ToolReading(answers={"safety_filter": policy})
    reading.use(READ_ITEMS, **{"from": 1, "to": 3})
    reading.use(**call)
    outcome = reading.outcome()

    assert isinstance(outcome, Blocked if policy == "neutral" else Unanswered)
    assert parts == parts_of(outcome)
    assert not isinstance(outcome, Unanswered) or FailureReason.PARTLY_READ is outcome.reason


@each_row(("call", "parts"), FAILED_CALLS)
def test_a_tool_call_that_failed_is_made_good_by_one_that_is_answered(
    call: dict[str, Any], parts: tuple[str, ...]
) -> None:
    reading = ToolReading()
    reading.use(**call)
    reading.use(READ_ITEMS, **{"from": 6, "to": 9})

    assert parts
    assert () == parts_of(reading.outcome())


def test_calls_after_the_last_turn_with_tools_are_a_matter_of_room() -> None:
    reading = ToolReading(seats=[{"model": "simulated/juror", "juror_id": "j1", "window": WINDOW}])
    while reading.call.tools:
        reading.use(READ_ITEMS, **{"from": 1, "to": 3})
    reading.use(READ_ITEMS, **{"from": 40, "to": 50})

    assert Verdict.SAFE_PASS is reading.answer().answer.verdict


FAILURES = [
    CallOutcome.BLOCKED,
    CallOutcome.TIMEOUT,
    CallOutcome.TRUNCATED,
    CallOutcome.BAD_REQUEST,
    CallOutcome.CONTEXT_TOO_LONG,
    b"I can't help with that.",
    b"",
    b"{}",
]


@each_row("failure", FAILURES)
@each_row("policy", ["neutral", "fallback", "abstain"])
def test_the_next_model_has_to_read_what_a_model_was_shown_that_then_failed(
    policy: str, failure: bytes | CallOutcome
) -> None:
    """Unless the panel asks no other model after such a failure."""
    seats = [{"model": "simulated/m1", "fallbacks": ["simulated/m2"], "juror_id": "j1"}]
    for read in (False, True):
        reading = ToolReading(seats=seats, answers={"safety_filter": policy})
        reading.use(READ_ITEMS, **{"from": 7, "to": 9})
        outcome = reading.fail(failure)
        if outcome is None:
            prompt = "".join(reading.debate.pen.text(ref) for ref in reading.call.messages[-1].parts)
            if read:
                reading.use(READ_ITEMS, **{"from": 5, "to": 9})
            outcome = reading.outcome()

            assert "simulated/m2" in outcome.exchanges[-1].replace("%2F", "/")
            assert "or could not finish: 7-9. Read them" in prompt
            assert read == (isinstance(outcome, Answered) and outcome.answer.verdict is Verdict.SAFE_PASS)
            assert read == (not parts_of(outcome))
        else:
            assert (CallOutcome.BLOCKED, True) == (failure, policy != "fallback")
            assert ("items 7-9",) == parts_of(outcome)


def test_the_next_model_is_asked_where_a_pass_does_not_count() -> None:
    seats = [{"model": "simulated/m1", "fallbacks": ["simulated/m2"], "juror_id": "j1"}]
    reading = ToolReading(seats=seats, answers={"safety_filter": "fallback"})
    reading.use(READ_ITEMS, **{"from": 1, "to": 3})
    reading.use(READ_ITEMS, index=99, **{"from": 7, "to": 9})
    reading.outcome()

    assert "simulated/m2" == reading.call.model
    reading.use(READ_ITEMS, **{"from": 7, "to": 9})
    read = reading.answer().answer.reading

    assert read is not None
    assert (3, None) == (read.items_read, read.partly_read)


@each_row(("call", "parts"), FAILED_CALLS)
def test_a_failing_verdict_stands_and_says_what_was_not_read(call: dict[str, Any], parts: tuple[str, ...]) -> None:
    reading = ToolReading()
    result, ok = reading.use(**call)
    outcome = reading.answer("unsafe_fail")
    read = outcome.answer.reading

    assert (Verdict.UNSAFE_FAIL, parts) == (outcome.answer.verdict, parts_of(outcome))
    assert read is not None
    assert (False, 0, 0.0) == (ok, read.parts, read.share)
    assert ("index" in call) == ("calls of read_items, search_items in one turn" in result)


@each_row("policy", ["neutral", "fallback", "abstain"])
def test_a_seat_whose_tools_failed_does_not_pass_on_what_others_cite(policy: str) -> None:
    """In phase 1 its call is blocked; in the round it is shown the items that others cite."""
    panel = a_panel(
        seats=[{"model": "simulated/m1", "juror_id": "j1", "reading": "tools"}, {"model": "simulated/m1"}],
        preset="parallel-rounds",
        discussion={"max_rounds": 1, "end_early": False},
        answers={"safety_filter": policy},
        final={"method": "majority_vote"},
    )
    debate = LongDebate(
        panel, lambda step, _c, _p: CallOutcome.BLOCKED if (step.round, step.juror_id) == (0, "j1") else None
    ).run()
    judgment = debate.judgment

    assert ("record",) == judgment.votes[0].partly_read
    assert judgment.votes[0].position is not Verdict.SAFE_PASS


def test_results_end_where_the_window_is_full() -> None:
    reading = ToolReading(seats=[{"model": "simulated/juror", "juror_id": "j1", "window": WINDOW}])
    turns = 0
    while reading.call.tools:
        reading.use(READ_ITEMS, **{"from": 1, "to": 82, "part": turns + 1})
        turns += 1
    shown = sum(len(reading.debate.pen.content(ref.part)) for message in reading.call.messages for ref in message.parts)

    assert turns > 1
    assert shown / 3 <= 0.6 * WINDOW
    assert "No more tools can be called." in reading.debate.pen.text(reading.call.messages[-1].parts[0])


def test_the_record_reads_the_same_through_results_of_any_size() -> None:
    record = ShownRecord(b"# What\n\n[1] User\nkz: " + b"word " * 3000 + b"\n\n[2] Agent\nkz: done\n\n", "kz:")
    whole = b""
    part = 1
    while (answer := read_items(record, json.dumps({"from": 1, "to": 2, "part": part}), TEXTS, 700)).ok:
        assert answer.read is not None
        whole += record.content[slice(*answer.read)]
        part += 1

    assert record.content[8:] == whole
