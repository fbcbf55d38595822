"""What notebooks show of results, statistics and ballots: their figures, simulation, and texts as text."""

import re
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import pyarrow as pa
import pytest
from selectolax.lexbor import LexborHTMLParser

from jury_analysis import StatisticsOptions, statistics
from jury_events import Verdict
from jury_judge import Jury, Records, ShownStatistics, StatisticsSettings, VoteReports, grouped_statistics
from jury_judge.tables.ballot_table import MOST_ROWS, BallotFrame
from jury_views import CollaborativeJuryResult, debate_result
from support.ballot_tables import ballots
from support.debate_builder import DebateBuilder
from support.refusals import RefusalTables

HOSTILE = "</style></div><script>alert(1)</script><img src=x onerror=alert(1)>\u202e{{ 7 * 7 }}"
WORDS = {verdict.value for verdict in Verdict}
SAFE, FAIL = "safe_pass", "unsafe_fail"


def a_result(debate: DebateBuilder | None = None) -> CollaborativeJuryResult:
    judged = debate or DebateBuilder().phase_1().round_1().judged()
    return debate_result(judged.events, judged.texts)


def cell(value: Any) -> LexborHTMLParser:
    return LexborHTMLParser(value._repr_html_())


def text(value: Any) -> str:
    """What a reader sees, without the style."""
    tree = cell(value)
    tree.strip_tags(["style"])
    assert tree.body is not None
    return " ".join(tree.body.text(separator=" ").split())


def with_texts(value: Any, new: str) -> Any:
    """The value with `new` in the place of every text but verdicts and members of closed sets."""
    if isinstance(value, str):
        return value if isinstance(value, Enum) or value in WORDS else new
    if isinstance(value, list):
        return [with_texts(one, new) for one in value]
    if is_dataclass(value):
        for field in fields(value):
            setattr(value, field.name, with_texts(getattr(value, field.name), new))
    return value


def elements(value: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [(node.tag, tuple(sorted(node.attributes))) for node in cell(value).css("*")]


def test_hostile_texts_of_a_result_are_shown_as_text() -> None:
    plain, hostile = with_texts(a_result(), "word"), with_texts(a_result(), HOSTILE)

    assert elements(plain) == elements(hostile)
    assert "<script>alert(1)</script>" in text(hostile)
    assert "\u202e" not in text(hostile)
    assert "{{ 7 * 7 }}" in text(hostile)


def report(*seats: str, **facts: Any) -> ShownStatistics:
    table = ballots(
        [[SAFE, FAIL], [SAFE, SAFE]] * 6,
        labels=[SAFE, FAIL] * 6,
        seats=list(seats),
        facts=[facts] * 12,
    )
    return ShownStatistics.of(statistics(table, options=StatisticsOptions(simulated=True)))


def test_hostile_seats_are_shown_as_text() -> None:
    assert elements(report("gpt", "claude")) == elements(report("gpt", HOSTILE))


def test_ballots_are_converted_by_arrow_and_shown_in_part() -> None:
    table = ballots([[SAFE, FAIL, HOSTILE]] * 10)
    frame = BallotFrame(table)

    assert table.to_pylist() == pa.Table.from_pandas(frame.to_pandas(), schema=table.schema).to_pylist()
    assert table.to_pylist() == frame.to_polars().to_dicts()
    assert f"ballots: 30, of which {MOST_ROWS} are shown" in text(frame)
    assert MOST_ROWS == len(cell(frame).css("tbody tr"))
    assert not cell(frame).css("script, img")


def grouped() -> Any:
    table = ballots([[SAFE, FAIL]] * 4, labels=[SAFE] * 4, facts=[{"run_id": "one"}, {"run_id": "two"}] * 2)
    others = pa.table({"case_id": ["c000000", "other"], "annotator": ["ann"] * 2, "label": [FAIL, SAFE]})
    return grouped_statistics(table, others, StatisticsOptions(), by=["run"])


@pytest.fixture
def cells() -> dict[str, Any]:
    return {
        "a result": a_result(),
        "a result of models": a_result(DebateBuilder().phase_1().judged().opened_as(simulated=False)),
        "a debate without a verdict": a_result(DebateBuilder().phase_1()),
        "statistics": report("gpt", "claude"),
        "statistics of simulated jurors": report("gpt", "claude", simulated=True),
        "statistics by run": grouped(),
        "ballots": BallotFrame(ballots([[SAFE, FAIL, SAFE]] * 10)),
    }


def test_cells_show_figures_beside_charts_in_the_language_that_is_asked_for(
    printed: RefusalTables, cells: dict[str, Any]
) -> None:
    printed.compare(
        "notebook_cells",
        {f"{name} in {lang}": lines(value.to_html(lang)) for name, value in cells.items() for lang in ("en", "ja")},
    )
    for value in cells.values():
        assert value._repr_html_() == value.to_html("en")
    assert cell(cells["a result"]).css("svg rect.part")
    assert len(cell(cells["statistics"]).css("svg")) >= 4


def lines(html: str) -> str:
    """What a reader sees, a row or a paragraph a line."""
    tree = LexborHTMLParser(re.sub(r"<(tr|p|h\d|li|summary|div|details|svg)\b", r"¶<\1", html))
    tree.strip_tags(["style", "svg"])
    assert tree.body is not None
    return "\n".join(line for one in tree.body.text(separator=" ").split("¶") if (line := " ".join(one.split())))


async def test_everything_that_a_jury_gives_is_shown(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    async with Jury(store=url) as jury:
        result = await jury.evaluate({"question": "Open?", "response": "At nine."})
    async with Records(url) as records:
        found = await records.stats(options=StatisticsOptions(simulated=True))
        frame = await records.ballot_frame()
        table = await records.ballots()
    grouped = await VoteReports().stats(StatisticsSettings(store_url=url, everything=True, include_simulated=True))

    for shown in (result, found, frame, grouped):
        assert "Simulated jurors: no model was called." in text(shown)
    assert table.equals(frame.arrow)
