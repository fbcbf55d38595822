"""A trace's spans as one transcript. The one rule of what wins when a trace records a thing twice:

1. The span of a model call records the conversation: its inputs at its start, its outputs at its end. Of an input that
   repeats the conversation of an earlier span, only what follows the repeated part is new.
2. A span with spans below it adds only what nothing below it records.
3. A tool's span adds only what no message records: its call is that of a message with the same id of the call in the
   same turn (see `jury_events.pending_calls`), else with the same tool and arguments, in order, each once; its result
   is that of this call. Its failure marks the message's result.
4. Where several agents have names, what an agent's span gives is said by that agent.
5. Several sources of the same messages in one span: the first that has some, and what the others have more.

The rule is by shape, not by tool: adapters map a tool's records to `Span`s, and decide nothing of this.
"""

from collections.abc import Collection, Iterable

from jury_cases.traces.conversations import Conversations, SpanConversation
from jury_cases.traces.pieces import ContentPiece, pieces_of
from jury_cases.traces.span import Span
from jury_cases.traces.speakers import only_models_speak
from jury_cases.traces.tools import Moment, ToolSpans
from jury_cases.traces.tree import Node, tree_of
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_events.transcript import Item


def read_spans(spans: Iterable[Span], builder: TranscriptBuilder) -> None:
    """Add what happened in the spans of one trace to a transcript, in order of time.

    A span counts as a message, numbered in the order in which the spans began.
    """
    nodes = tree_of(only_models_speak(spans))
    number = {node.entered: index for index, node in enumerate(sorted(nodes, key=lambda node: node.when(at_end=False)))}
    moments = sorted(
        ((node, at_end) for node in nodes for at_end in (False, True)), key=lambda one: one[0].when(at_end=one[1])
    )
    timeline = _timeline(moments)
    tools = ToolSpans(timeline)
    several = len({node.agent for node in nodes if node.agent is not None}) > 1
    steps = ((number[step.node.entered], step) for step in timeline)
    for _, step in builder.messages.of_list(steps, len(nodes)):
        items = tools.items(step.node, at_end=step.at_end) if step.piece is None else tools.marked(step.piece)
        by_agent = step.at_end or step.piece is None
        said = _said_by(step.node.agent, items) if several and by_agent else items
        builder.take(said, place=step.node.span.place)
    for node in nodes:
        builder.take((), node.span.images)


def _timeline(moments: list[tuple[Node, bool]]) -> list[Moment]:
    """Pieces and tool runs in order of time."""
    conversations = Conversations()
    begun: dict[int, SpanConversation] = {}
    steps: list[Moment] = []
    for node, at_end in moments:
        if node.span.handover is not None and not at_end:
            event = TranscriptBuilder()
            event.handover(*node.span.handover, node.span.place)
            steps += [Moment(node, at_end, piece) for piece in pieces_of(event.transcript().items)]
        if node.span.tool is not None:
            steps.append(Moment(node, at_end, None))
        if node.missing is not None:
            new = _shown_of_parent(node, node.missing, conversations, at_end=at_end)
        elif at_end:
            new = node.outputs
            if node.inputs or new:
                conversations.span_ended(begun[node.entered], new, failed=node.span.failure is not None)
        else:
            new, begun[node.entered] = conversations.new_of(node.inputs, node.scope)
        conversations.shown(new, node.scope)
        steps += [Moment(node, at_end, piece) for piece in new]
    return steps


def _shown_of_parent(
    node: Node, missing: Collection[int], conversations: Conversations, *, at_end: bool
) -> list[ContentPiece]:
    new = node.outputs if at_end else conversations.new_of(node.inputs, node.scope)[0]
    return [piece for piece in new if id(piece) in missing]


def _said_by(agent: str | None, items: Iterable[Item]) -> list[Item]:
    return [
        item.model_copy(update={field: agent})
        if (field := _SPEAKERS.get(item.kind)) is not None and getattr(item, field) is None
        else item
        for item in items
    ]


_SPEAKERS = {"assistant": "name", "reasoning": "speaker", "refusal": "speaker", "tool_call": "speaker"}
"""By kind of item, the field of the agent's name."""
