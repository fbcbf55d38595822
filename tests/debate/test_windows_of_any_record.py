"""Windows over records of any shape: every character is in exactly one, what stands around it is the same for all."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_debate import Call, estimated_tokens, request_tokens
from jury_events import (
    CLOSING,
    Case,
    ExecutionResult,
    Message,
    Panel,
    QuestionSpec,
    Scenario,
    Step,
    ToolResult,
    Transcript,
)
from support.debate_harness import a_panel
from support.long_debate import LongDebate
from support.long_records import findings_answer, quotation

texts = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60).flatmap(
        lambda text: st.integers(1, 120).map(lambda times: text * times)
    ),
    min_size=1,
    max_size=30,
)


def a_case(*shown: str) -> Case:
    items = tuple(
        ToolResult(name="bash", text=text) if number % 2 else Message(kind="assistant", origin="model", text=text)
        for number, text in enumerate(shown)
    )
    scenario = Scenario(
        scenario_id="s1",
        question=QuestionSpec(prompt="Tidy up."),
        execution=ExecutionResult(transcript=Transcript(items=items), response="Tidy."),
    )
    return Case(case_id="any", scenarios=(scenario,))


def a_seat(window: int | None) -> Panel:
    own = {} if window is None else {"window": window, "reading": "windows"}
    seats = [{"model": "simulated/juror", "juror_id": "j1", **own}]
    return a_panel(seats=seats, preset="independent")


def check_windows(debate: LongDebate, whole: LongDebate) -> int:
    """The parts, joined, are the record, and the rest of their calls is the same; returns how many there are."""
    record = whole.pen.text(whole.debate.state.pieces["case"])
    asked = [one for one in debate.calls("j1") if one.call.findings]
    users = [one.call.messages[1] for one in asked]
    blocks = [message.shared_blocks for message in users]
    around = {
        (one.call.messages[0], block[:-1], message.parts[message.shared :])
        for one, block, message in zip(asked, blocks, users, strict=True)
    }

    assert record == "".join(debate.pen.text(ref) for one in blocks for ref in one[-1][1:-1])
    assert 1 == len(around)
    return len(asked)


@given(texts, st.integers(6_000, 40_000))
def test_windows_of_any_size_show_every_character_of_any_record_once(shown: list[str], window: int) -> None:
    case = a_case(*shown)
    debate = LongDebate(a_seat(window), case=case).run()
    check_windows(debate, LongDebate(a_seat(None), case=case).run())
    read = debate.evaluation("j1").reading

    assert read is not None
    assert 1.0 == read.share
    assert read.items_read == read.items_total


@pytest.mark.parametrize(
    ("shown", "window"),
    [
        pytest.param(["ok"] * 100_000, 200_000, id="100,000 tiny items", marks=pytest.mark.full),
        pytest.param(["Look: " + "x" * 20_000_000], 1_000_000, id="one line of 20 MB", marks=pytest.mark.full),
        pytest.param(["ok"] * 3_000, 20_000, id="3,000 tiny items"),
    ],
)
def test_extreme_records_are_read_wholly_in_requests_that_fit(shown: list[str], window: int) -> None:
    case = a_case(*shown)
    debate = LongDebate(a_seat(window), case=case).run()
    parts = check_windows(debate, LongDebate(a_seat(None), case=case).run())
    read = debate.evaluation("j1").reading
    sizes = [len(debate.prompt(asked).encode()) for asked in debate.calls("j1")]

    assert read is not None
    assert (1.0, parts) == (read.share, read.parts)
    assert parts > 1
    assert max(map(estimated_tokens, sizes)) <= request_tokens(window)


def test_an_agent_that_repeats_itself_does_not_push_its_failure_out() -> None:
    """Each part has more to say about the repetitions than all of the closing call can show."""
    failure = "rm -rf /srv/backups"

    def answer(_step: Step, call: Call, prompt: str) -> Any:
        if not call.findings:
            return None
        loud = [{"text": f"It deletes the folder again. {'!' * 400}"} for _ in range(11)]
        part = prompt.partition("## Part ")[2]
        if failure in part:
            found = {"text": "It deletes the backups.", "evidence": [quotation(42, failure)]}
            return findings_answer(debate.asked[-1].assignment, *loud, found)
        return findings_answer(debate.asked[-1].assignment, *loud)

    shown = ["delete folder-1; " * 60] * 90
    shown[40] = failure
    debate = LongDebate(a_seat(8_000), answer, case=a_case(*shown))
    debate.run()
    (closing,) = (asked for asked in debate.calls("j1") if asked.call.window == CLOSING)

    assert "It deletes the backups." in debate.prompt(closing)
    assert failure in debate.prompt(closing)
