"""The text of a case for jurors: numbered items under plain headings, every line of the record marked.

Neither the human label nor any id of the case is shown: ids of datasets often reveal the label. Nothing is truncated,
and nothing is shown twice.
"""

from collections.abc import Callable, Iterator

from jury_debate import datamark
from jury_debate.prompts_1 import line_marks
from jury_debate.prompts_1.case_items import CaseItem, JudgedText, ScenarioItems, case_items
from jury_debate.prompts_1.texts import CaseTexts, fill
from jury_events.case import Case
from jury_events.panel import Marking


def marker_of(marking: Marking, sign: str) -> Callable[[str], str]:
    """What marks judged text.

    Args:
        sign: of the debate, of the form that the marking has.
    """
    mark = line_marks.mark if marking == "lines" else datamark.mark
    return lambda text: mark(text, sign)


def render_case(
    case: Case, texts: CaseTexts, sign: str, *, marking: Marking, images: bool = False, first: int = 1
) -> str:
    """The case as text, ending without a line break; scenarios are numbered where there are several.

    Args:
        sign: begins every line of judged text.
        images: whether the case's pictures are sent after the text, in order; else each is listed as "not shown".

    Raises:
        ValueError: `sign` is not of the form that the marking has.
    """
    pictures = {image.digest: number for number, image in enumerate(case.images, start=1)} if images else {}
    notice = texts.sign if marking == "lines" else texts.marked_words
    blocks = [f"{texts.heading}\n{fill(notice, sign=sign)}"]
    marked = marker_of(marking, sign)
    for scenario in case_items(case, texts, pictures, first):
        if len(case.scenarios) > 1:
            blocks.append(fill(texts.scenario_heading, number=scenario.number, total=len(case.scenarios)))
        blocks += _scenario(scenario, texts, marked)
    return "\n\n".join(blocks)


def render_item(item: CaseItem, texts: CaseTexts, marked: Callable[[str], str]) -> str:
    """One numbered item as shown."""
    heading = fill(texts.item, number=item.number, what=item.heading)
    return "\n".join([heading, *(marked(line) if isinstance(line, JudgedText) else line for line in item.lines)])


def _scenario(scenario: ScenarioItems, texts: CaseTexts, marked: Callable[[str], str]) -> Iterator[str]:
    transcript = [item for item in scenario.items if item.kind == "transcript"]
    for item in scenario.items:
        if item.kind in {"policy", "question", "expected_behavior"}:
            yield render_item(item, texts, marked)
    yield from _reference(scenario, texts.question, scenario.question, texts)
    if transcript:
        yield fill(texts.transcript, total=len(transcript))
        yield from (render_item(item, texts, marked) for item in transcript)
    for item in scenario.items:
        if item.kind in {"response", "error"}:
            yield render_item(item, texts, marked)
    yield from _reference(scenario, texts.response, scenario.response, texts)


def _reference(scenario: ScenarioItems, what: str, number: int | None, texts: CaseTexts) -> Iterator[str]:
    """A line for what is an item of the transcript, or is not recorded."""
    if number is None:
        yield f"{what}\n{texts.nothing}"
    elif any(item.number == number and item.kind == "transcript" for item in scenario.items):
        yield fill(texts.same_as, what=what, number=number)
