"""What notebooks show of results, statistics and ballots: their figures, simulation, and texts as text."""

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import pyarrow as pa
import pytest
from selectolax.lexbor import LexborHTMLParser

from jury_analysis.statistics import StatisticsOptions, statistics
from jury_events.errors import SettingError
from jury_events.verdict import Verdict
from jury_judge import Jury, Records, StatisticsSettings, VoteReports, extras
from jury_judge.errors import ExtraMissing
from jury_judge.statistics.shown_statistics import ShownStatistics
from jury_judge.statistics.statistics_groups import grouped_statistics
from jury_judge.tables.ballot_frame import MOST_ROWS, BallotFrame
from jury_views.models_of_results import result_model
from jury_views.notebook.rendering import LABELS
from jury_views.result_lines import collaborative_result
from jury_views.result_models import CollaborativeJuryResult
from support.ballot_tables import ballots
from support.debate_builder import DebateBuilder

HOSTILE = "</style></div><script>alert(1)</script><img src=x onerror=alert(1)>\u202e{{ 7 * 7 }}"
WORDS = {verdict.value for verdict in Verdict}
SAFE, FAIL = "safe_pass", "unsafe_fail"


def a_result(debate: DebateBuilder | None = None) -> CollaborativeJuryResult:
    judged = debate or DebateBuilder().phase_1().round_1().judged()
    return result_model(collaborative_result(judged.events, judged.texts))


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


def test_a_result_shows_the_verdict_each_seat_and_what_was_written() -> None:
    result = a_result()

    shown = text(result)

    assert f"{result.case_id}: ✗ unsafe_fail · score 50" in shown
    for seat in result.participating_jurors:
        assert seat in shown
    for one in result.phase1_evaluations:
        assert str(one.rationale) in shown
    assert len(result.participating_jurors) == len(cell(result).css("tbody tr"))
    assert cell(result).css("svg rect.part")


def test_a_result_of_simulated_jurors_says_so() -> None:
    assert "Simulated jurors" in text(a_result(DebateBuilder().phase_1().judged().opened_as(simulated=True)))
    assert "Simulated" not in text(a_result(DebateBuilder().phase_1().judged().opened_as(simulated=False)))


def test_a_debate_without_a_verdict_says_its_status() -> None:
    result = a_result(DebateBuilder().phase_1())

    assert f"no verdict, the debate is {result.status}" in text(result)


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


def test_statistics_show_charts_beside_tables_of_their_figures() -> None:
    found = report("gpt", "claude")

    shown = text(found)

    assert "12 finished debates of 12 cases in 12 clusters." in shown
    assert "unsafe_fail 0 0%" in shown.replace("✗ ", "")
    assert "gpt 50.0%" in shown  # of the votes that are right
    assert ["Shares of the verdicts", "Agreement of the seats before discussion", "Seats against labels"] == [
        one.text() for one in cell(found).css("h4")
    ][:3]
    assert len(cell(found).css("svg")) >= 4
    assert "imulated" not in shown


def test_shown_statistics_are_the_same_report() -> None:
    found = statistics(ballots([[SAFE, FAIL]] * 3))

    assert found.to_dict() == ShownStatistics.of(found).to_dict()


def test_statistics_of_simulated_debates_say_so() -> None:
    assert "Simulated jurors: no model was called." in text(report("gpt", "claude", simulated=True))


def test_hostile_seats_are_shown_as_text() -> None:
    assert elements(report("gpt", "claude")) == elements(report("gpt", HOSTILE))


def test_groups_are_shown_under_their_names() -> None:
    table = ballots([[SAFE, FAIL]] * 4, facts=[{"run_id": "one"}, {"run_id": "two"}] * 2)
    found = grouped_statistics(table, None, StatisticsOptions(), by=["run"])

    assert ["run one", "run two"] == [one.text() for one in cell(found).css("h3")]


def test_ballots_are_converted_by_arrow_and_shown_in_part() -> None:
    table = ballots([[SAFE, FAIL, HOSTILE]] * 10)
    frame = BallotFrame(table)

    assert table.to_pylist() == pa.Table.from_pandas(frame.to_pandas(), schema=table.schema).to_pylist()
    assert table.to_pylist() == frame.to_polars().to_dicts()
    assert f"ballots: 30, of which {MOST_ROWS} are shown" in text(frame)
    assert MOST_ROWS == len(cell(frame).css("tbody tr"))
    assert not cell(frame).css("script, img")


JAPANESE = {
    "result": (a_result, ("陪審員", "独立評価", "ラウンド1", "確信度", "最終判定者", "陪審員の記述")),
    "statistics": (
        lambda: report("gpt", "claude"),
        ("判定の割合", "議論前の陪審員間の一致", "正解率", "値についての注意"),
    ),
    "ballots": (lambda: BallotFrame(ballots([[SAFE]] * 3)), ("票: 3件", "すべての行と列")),
}


@pytest.mark.parametrize("name", JAPANESE)
def test_a_cell_in_japanese_has_no_label_in_english(name: str) -> None:
    make, words = JAPANESE[name]
    value = make()

    japanese = text(value.to_html("ja"))

    assert [] == [one for one in words if one not in japanese]
    for label in (
        "written",
        "answered_by",
        "stats_agreement",
        "stats_value",
        "stats_accuracy",
        "limits",
        "all_ballots",
    ):
        assert getattr(LABELS["en"], label) not in japanese
    assert 'lang="ja"' in value.to_html("ja")
    assert value._repr_html_() == value.to_html("en")


def test_labels_of_statistics_are_shown_in_the_language_of_the_cell() -> None:
    table = ballots([[SAFE, FAIL]] * 4, labels=[SAFE] * 4)
    differing = pa.table({"case_id": ["c000000", "other"], "annotator": ["ann"] * 2, "label": [FAIL, SAFE]})
    found = grouped_statistics(table, differing, StatisticsOptions())

    assert "票のないケース1件のラベル: other" in text(found.to_html("ja"))
    assert "labels of 1 case without votes: other" in text(found)


def test_a_language_that_is_not_there_is_refused() -> None:
    with pytest.raises(SettingError, match="lang: 'de' is neither en nor ja"):
        a_result().to_html("de")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="lang: 'de' is neither en nor ja"):
        report("gpt", "claude").to_html("de")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)

    with pytest.raises(ExtraMissing, match=rf"to_{name}\(\) needs {name}: pip install {name}"):
        getattr(BallotFrame(ballots([[SAFE]])), f"to_{name}")()


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
