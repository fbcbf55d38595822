"""Debates for pages in Chromium: quotations that are long, overlap or are markup, and a long transcript."""

from jury_events import Message
from support.debate_harness import Says
from support.evidence_debate import JUDGE, TABLE, EvidenceDebate, a_cited_case, all_saying, quoting

UNBROKEN = "A" * 200
RIGHT_TO_LEFT = "أعد المبلغ إلى البطاقة"
SCRIPTS = (
    "<script>document.title = 'executed'</script>",
    "<img src=x onerror=\"document.title = 'executed'\">",
    "</mark></q></a><svg onload=\"document.title = 'executed'\"></svg>",
    "<a href=\"javascript:document.title = 'executed'\">go</a>",
)
"""Markup that an agent says and a juror quotes."""


def said(*texts: str) -> list[Message]:
    return [Message(kind="assistant", origin="model", text=text) for text in texts]


def hostile_quotations() -> EvidenceDebate:
    """d1, with quotations that are long, run from right to left, overlap, are markup, or are not there."""
    entries = (
        quoting(7, UNBROKEN),
        quoting(8, RIGHT_TO_LEFT),
        quoting(6, "The end of it."),
        quoting(5, "I refunded order 17"),
        quoting(5, "order 17 without asking"),
        quoting(5, SCRIPTS[0]),
        quoting(999, "nothing"),
    )
    quoted = tuple(quoting(number, text) for number, text in enumerate(SCRIPTS, 9))
    table = {
        **TABLE,
        "claude": [Says("unsafe_fail", evidence=entries, decisive_item=3)],
        "gemini": [Says("safe_pass", evidence=quoted)],
    }
    return EvidenceDebate(table, JUDGE, case=a_cited_case(*said(f"x {UNBROKEN} y", RIGHT_TO_LEFT, *SCRIPTS)))


def a_long_transcript() -> EvidenceDebate:
    """The debate `long` of 908 numbered items, of which the jurors quote number 600; the last one has no space."""
    more = said(*(f"Message {number}." for number in range(1, 900)), "A" * 20_000)
    says = Says("unsafe_fail", evidence=(quoting(600, "Message 594."),), decisive_item=600)
    debate = EvidenceDebate(all_saying(says), says, case=a_cited_case(*more))
    debate.events[0] = debate.opened.changed(debate_id="long", case_id="long")
    return debate
