"""The scanner `jury_judge/jury` of Inspect Scout: a jury reads each transcript, and refers to its messages.

Scout takes the first part of a scanner's name for the name of a distribution, and asks for its version: this one is
registered under `jury_judge`, which is the distribution's name, and not under the package that it is in.
"""

from typing import Any

from inspect_scout import Reference, Result, Scanner, Transcript, scanner

from jury_integrations.hosted_jury import hosted_jury
from jury_judge import scout_sample

HOST = "scout"


def _jury(
    panel: str | None = None, store: str | None = None, policy: str | None = None, run: str | None = None
) -> Scanner[Transcript]:
    """A jury's verdict on a transcript is the value of its result.

    A transcript whose debate could not go on is an error of the scan, which `scout scan resume` goes on with.

    Args:
        panel: a preset, a bundled jury or a panel file; None: simulated jurors.
        store: `sqlite:///PATH` or `postgresql://…`; None: `JURY_STORE_URL`, else `sqlite:///jury.db`.
        policy: a text file with the agent's instructions, for transcripts whose messages have none.
        run: the run in the store; None: one for each panel.
    """
    hosted = hosted_jury(HOST, panel, store, policy, run)

    async def scan(transcript: Transcript) -> Result:
        outcome = await hosted.judged(hosted.case(scout_sample(transcript), form="inspect"))
        cited = outcome.cited_messages
        references = [_reference(transcript.messages[number], number) for number in cited]
        marks = "".join(f"\n[M{number + 1}] {line}" for number, lines in cited.items() for line in lines)
        return Result(
            value=outcome.verdict,
            answer=outcome.judgment.label or outcome.verdict,
            explanation=f"{outcome.explanation}{marks}",
            metadata=outcome.metadata,
            references=references,
        )

    return scan


_jury.__module__ = "jury_judge"
jury = scanner(messages="all", name="jury")(_jury)


def _reference(message: Any, number: int) -> Reference:
    return Reference(type="message", cite=f"[M{number + 1}]", id=message.id or "")
