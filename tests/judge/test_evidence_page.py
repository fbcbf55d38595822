"""`jury show --evidence`: quotations seat by seat, and the decisive items, in 80 columns and the panel's language."""

from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from jury_views import evidence_data, evidence_page
from support.debate_builder import DebateBuilder
from support.debate_harness import Says
from support.evidence_debate import EvidenceDebate, all_saying, quoting
from support.refusals import RefusalTables


def shown(debate: EvidenceDebate | DebateBuilder) -> list[str]:
    out = StringIO()
    evidence_page(debate.events, debate.texts).print(Console(file=out, width=80))
    return out.getvalue().splitlines()


def with_broken_quotations() -> EvidenceDebate:
    debate = EvidenceDebate()
    for ref in [ref for ref, content in debate.texts.items() if content.startswith(b'["')]:
        debate.texts[ref] = b"not JSON"
    return debate


def test_pages(printed: RefusalTables) -> None:
    unsupported, plain = Says("unsafe_fail", evidence=(quoting(5, "not there"),)), Says("safe_pass", 90.0)
    debates = {
        "every result of a quotation": EvidenceDebate(),
        "Japanese": EvidenceDebate(language="ja"),
        "no quotation stands": EvidenceDebate(all_saying(unsupported)),
        "no quotation and no decisive item": EvidenceDebate(all_saying(plain), plain),
        "erased": EvidenceDebate().without_quotes(recorded=True),
        "missing": EvidenceDebate().without_quotes(recorded=False),
        "unreadable": with_broken_quotations(),
        "not asked for quotations": DebateBuilder().phase_1(),
    }

    printed.compare("evidence_pages", {name: "\n".join(shown(debate)) for name, debate in debates.items()})


@pytest.mark.parametrize("quote", ["A" * 200, "返金" * 100, "a\nb\tc" * 40, "\x1b[31m\u202e" * 20])
def test_long_and_hostile_quotations_are_one_line_of_80_columns(quote: str) -> None:
    page = shown(EvidenceDebate(all_saying(Says("unsafe_fail", evidence=(quoting(5, quote),)))))

    assert 80 >= max(map(cell_len, page))
    assert "\x1b" not in "".join(page)
    assert "\u202e" not in "".join(page)


def test_the_data_has_an_object_an_evaluation() -> None:
    debate = EvidenceDebate()

    first, *others = evidence_data(debate.events, debate.texts)

    steps = ["initial/claude", "initial/gemini", "round-1/gpt", "round-1/claude", "round-1/gemini", "final"]
    assert steps == [one["step"] for one in others]
    assert ("initial/gpt", "Juror A (Policy compliance: simulated)", "unsafe_fail", 5, False) == tuple(
        first[name] for name in ("step", "role_name", "verdict", "decisive_item", "unsupported")
    )
    assert "without asking" == first["evidence"][0]["quote"]
    assert [] == evidence_data(DebateBuilder().phase_1().events, {})
