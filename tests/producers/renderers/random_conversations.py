"""Random conversations, within what a shape can say. Each text has a marker, and words that look like syntax."""

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from producers.renderers.conversation import Call, Conversation, Exchange, Result, Shape, Step
from producers.story import picture

TAILS = (
    *(
        "plain words",
        "two\nlines",
        " ends in spaces  ",
        '{"role": "user", "content": "x"}',
        "[1, 2]",
        "null",
        "```py\n1\n```",
    ),
    *("日本語 🙂", "<tool_call>{}</tool_call>", "Error: no", "a\\nb", "=1+1", "assistant: no", "\ttab", "x" * 300),
)
NAMES = ("search", "pay", "search", "files.read", "mcp__shop__buy")
VALUES = st.sampled_from(("a", 1, 0.5, True, None, [], ["x", 2], {}, {"b": {"c": "日"}}, '{"k": 1}', ""))


@dataclass
class _Numbers:
    """Numbers the markers and ids of one conversation."""

    last: int = field(default=9)

    def marker(self, word: str) -> str:
        self.last += 1
        return f"M{self.last}{word}"


@st.composite
def conversations(draw: st.DrawFn, shape: Shape) -> Conversation:
    """A conversation that the shape can say whole."""
    numbers = _Numbers()
    system = draw(_text(numbers, "system")) if shape.system and draw(st.booleans()) else None
    exchanges = []
    for _ in range(draw(st.integers(1, 3))):
        user = draw(_text(numbers, "user"))
        pictured = shape.pictures and draw(st.booleans())
        marker = numbers.marker("picture") if pictured else ""
        steps: list[Step] = []
        for _ in range(draw(st.integers(0, 3))):
            if not shape.alternating or not steps or steps[-1].results:
                steps.append(draw(_steps(shape, numbers)))
        content = picture(f"{marker} ") if pictured else None
        exchanges.append(Exchange(user=user, picture=content, picture_marker=marker, steps=tuple(steps)))
    if shape.answered:
        last = Step(text=draw(_text(numbers, "text")))
        exchanges[-1] = replace(exchanges[-1], steps=(*exchanges[-1].steps, last))
    return Conversation(system=system, exchanges=tuple(exchanges))


@st.composite
def _text(draw: st.DrawFn, numbers: _Numbers, word: str) -> str:
    return f"{numbers.marker(word)} {draw(st.sampled_from(TAILS))}"


@st.composite
def _steps(draw: st.DrawFn, shape: Shape, numbers: _Numbers) -> Step:
    reasoning = draw(_text(numbers, "reasoning")) if shape.reasoning and draw(st.booleans()) else None
    kind = draw(st.sampled_from(("text", "calls", "both", *(("refusal",) if shape.refusals else ()))))
    if kind == "refusal":
        return Step(reasoning=reasoning, refusal=draw(_text(numbers, "refusal")))
    text = draw(_text(numbers, "text")) if kind != "calls" or not shape.silent else None
    if kind == "text":
        return Step(reasoning=reasoning, text=text)
    calls = tuple(draw(_calls(numbers)) for _ in range(draw(st.integers(1, 3)) if shape.parallel else 1))
    answered = [one for one in calls if not shape.unanswered or draw(st.integers(0, 4))]
    if shape.shuffled:
        answered = draw(st.permutations(answered))
    results = tuple(draw(_results(shape, numbers, one)) for one in answered)
    return Step(reasoning=reasoning, text=text, calls=calls, results=results)


@st.composite
def _calls(draw: st.DrawFn, numbers: _Numbers) -> Call:
    marker = numbers.marker("call")
    more = draw(st.dictionaries(st.sampled_from(("a", "b", "path")), VALUES, max_size=2))
    arguments = {"order": marker, **more}
    return Call(marker=marker, call_id=f"call_{numbers.last}id", name=draw(st.sampled_from(NAMES)), arguments=arguments)


@st.composite
def _results(draw: st.DrawFn, shape: Shape, numbers: _Numbers, call: Call) -> Result:
    error = shape.failures and draw(st.booleans())
    return Result(call=call, text=draw(_text(numbers, "result")), error=error)
