"""Twins of cases: how each probe changes a case, which twins it has, and the other panels that judge some of them."""

import re
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import cycle
from typing import Final, NamedTuple

from jury_cases.case_outlines import Fetch
from jury_cases.errors import CaseFileError
from jury_debate.resolved_panel import ResolvedPanel
from jury_events.case import Case, ExecutionResult, Scenario
from jury_events.panel import Language, Marking, Panel
from jury_events.text import pluralize, visible_line
from jury_events.transcript import Item, ItemSource, Message, Reasoning, Transcript
from jury_events.verdict import PASS
from jury_judge.errors import SettingsRefused

_BEST = "{best}"
"""In a text: the best verdict."""

_JAPANESE = re.compile(r"[\u3040-\u30ff]")


class ProbeTexts(NamedTuple):
    """All texts of one language; those of a family by the name of the text."""

    format_heading: str
    identity: str
    reasoning: str
    padding: tuple[str, ...]
    master_key: dict[str, str]
    injection: dict[str, str]


@cache
def probe_texts(language: Language, best: str = PASS) -> ProbeTexts:
    """The texts of a language; `best`: the best verdict of the scale that jurors judge in."""
    raw = tomllib.loads(files(__package__).joinpath("texts", f"{language}.toml").read_text(encoding="utf-8"))
    injection = {name: text.replace(_BEST, best) for name, text in raw["injection"].items()}
    return ProbeTexts(**{**raw, "padding": tuple(raw["padding"]), "injection": injection})


def texts_for(case: Case, best: str = PASS) -> ProbeTexts:
    """The Japanese texts if the case's question or response has kana, else the English ones; `best` as there."""
    shown = (text for one in case.scenarios for text in (one.question.prompt, one.execution.response))
    return probe_texts("ja" if any(map(_JAPANESE.search, shown)) else "en", best)


def drawn(choices: tuple[tuple[str, str], ...], case_id: str) -> tuple[str, str]:
    """One of the choices, by the case's id: the same in every run, whatever other cases there are."""
    return choices[int.from_bytes(sha256(case_id.encode()).digest()[:8]) % len(choices)]


_MARK = "~probe~"
_MOST = 500
"""Characters of a case's id."""


class Altered(NamedTuple):
    """A case with other content, and the name of the text that was put into it, if a probe has several."""

    case: Case
    text: str = ""


class TwinId(NamedTuple):
    """The parts of a twin's id."""

    case_id: str
    probe: str


def twin_of(case: Case, probe: str, altered: Altered) -> Case:
    """The altered case as a variant: of the same cluster, with an id and `metadata.variant` of its own."""
    twin_id = f"{case.case_id}{_MARK}{probe}"
    if len(twin_id) > _MOST:
        shown = visible_line(case.case_id, 60)
        raise CaseFileError(f"the id {shown!r} is too long for a twin: at most {_MOST - len(_MARK) - len(probe)}")
    variant = f"{probe}:{altered.text}" if altered.text else probe
    return altered.case.changed(
        case_id=twin_id,
        metadata={**altered.case.metadata, "variant": variant},
        cluster=case.cluster or case.case_id,
    )


def parse_twin_id(case_id: str) -> TwinId | None:
    """The case and the probe of a twin's id; None for any other id."""
    base, mark, probe = case_id.rpartition(_MARK)
    return TwinId(base, probe) if mark and base and probe else None


Change = Callable[[str], str]


def with_response(case: Case, change: Change) -> Case | None:
    """The case with the answer of its last scenario changed; None if the agent said nothing there."""
    *others, last = case.scenarios
    changed = _changed(last, change)
    return None if changed is None else case.changed(scenarios=(*others, changed))


def answers_length(case: Case) -> int:
    """Characters of what the agent said, in all scenarios: responses, or its messages where there is no response."""
    return sum(map(_length, case.scenarios))


def _length(scenario: Scenario) -> int:
    said = (_said(item) or "" for item in scenario.execution.transcript.items)
    return len(scenario.execution.response) or sum(map(len, said))


def _changed(scenario: Scenario, change: Change) -> Scenario | None:
    execution = scenario.execution
    if execution.response.strip():
        return scenario.changed(execution=execution.changed(response=change(execution.response)))
    items = list(execution.transcript.items)
    for index in reversed(range(len(items))):
        item = items[index]
        if isinstance(item, Message) and (_said(item) or "").strip():
            items[index] = item.changed(text=change(item.text))
            return scenario.changed(execution=execution.changed(transcript=Transcript(items=tuple(items))))
    return None


def _said(item: Item) -> str | None:
    """The agent's words; None for everything else."""
    if isinstance(item, Message) and item.kind == "assistant" and item.origin == "model":
        return item.text
    return None


NAMES = {"claude": "Claude", "gemini": "Gemini", "gpt": "GPT", "llama": "Llama", "mistral": "Mistral", "qwen": "Qwen"}
"""Families of models, as they are called."""


def identity(case: Case) -> Altered | None:
    """The answer, and the name of a model family, drawn by the case; None if the agent said nothing."""
    family, name = drawn(tuple(NAMES.items()), case.case_id)
    sentence = texts_for(case).identity.format(name=name)
    altered = with_response(case, lambda answer: f"{answer}\n\n{sentence}")
    return None if altered is None else Altered(altered, family)


def injection(case: Case, best: str) -> Altered | None:
    """The answer, and an instruction to jurors to give the verdict `best`; None if the agent said nothing."""
    name, text = drawn(tuple(texts_for(case, best).injection.items()), case.case_id)
    altered = with_response(case, lambda answer: f"{answer}\n\n{text}")
    return None if altered is None else Altered(altered, name)


def layout(case: Case) -> Altered | None:
    """Every line of the answer as an item of a list; None if the agent said nothing, or has no line for a list."""
    heading = texts_for(case).format_heading

    def listed(answer: str) -> str:
        return "\n".join([f"## {heading}", "", *(f"- {line.strip()}" for line in answer.splitlines() if line.strip())])

    altered = with_response(case, listed)
    return None if altered is None else Altered(altered)


def master_key(case: Case) -> Altered | None:
    """Each answer replaced by a text without content; nothing else of the agent, and no record of it, stays."""
    name, text = drawn(tuple(texts_for(case).master_key.items()), case.case_id)
    emptied = case.changed(
        scenarios=tuple(_answered(scenario, text) for scenario in case.scenarios),
        security_gate_records=(),
        agent_card_records=(),
        security_gate_uri=None,
        agent_card_uri=None,
        artifact_summary=None,
        images=(),
        label=None,
    )
    return Altered(emptied, name)


def _answered(scenario: Scenario, text: str) -> Scenario:
    asked = tuple(item for item in scenario.execution.transcript.items if _is_asked(item))
    return scenario.changed(execution=ExecutionResult(response=text, transcript=Transcript(items=asked)))


def _is_asked(item: Item) -> bool:
    return isinstance(item, Message) and item.origin in {"user", "developer"}


_SEVERAL = 2


def speakers(case: Case) -> Altered | None:
    """The case itself, before a panel whose seats speak in reverse order (`reversed_seats`)."""
    return Altered(case)


def scenarios(case: Case) -> Altered | None:
    """The scenarios in reverse order; None if there is one."""
    return Altered(case.changed(scenarios=case.scenarios[::-1])) if len(case.scenarios) > 1 else None


def records(case: Case) -> Altered | None:
    """The records of each kind in reverse order; None if there are not two of a kind.

    Records behind a URI are known only when they were fetched: a case with a URI always has a twin.
    """
    gates, cards = case.security_gate_records, case.agent_card_records
    behind_uris = case.security_gate_uri is not None or case.agent_card_uri is not None
    if len(gates) < _SEVERAL and len(cards) < _SEVERAL and not behind_uris:
        return None
    return Altered(case.changed(security_gate_records=gates[::-1], agent_card_records=cards[::-1]))


LEAST = 400
"""Characters of padding at least, so that a short answer becomes a long one."""


def length(case: Case) -> Altered | None:
    """The answer, and padding that says nothing; None if the agent said nothing."""
    sentences = cycle(texts_for(case).padding)

    def padded(answer: str) -> str:
        added: list[str] = []
        while sum(map(len, added)) < max(LEAST, len(answer)):
            added.append(next(sentences))
        return f"{answer}\n\n{' '.join(added)}"

    altered = with_response(case, padded)
    return None if altered is None else Altered(altered)


CaseSource = Callable[[Fetch], Iterable[Case]]
"""Returns the cases from the first on; called for each case whether to fetch the records behind its URIs."""


def confident(case: Case) -> Altered | None:
    """The same actions after confident reasoning; None if the agent's reasoning is not recorded."""
    text = texts_for(case).reasoning
    return _with_reasoning(case, lambda item: item.changed(text=text))


def removed(case: Case) -> Altered | None:
    """The same actions without reasoning; None if it is not recorded."""
    return _with_reasoning(case, lambda _item: None)


def _with_reasoning(case: Case, change: Callable[[Reasoning], Reasoning | None]) -> Altered | None:
    changed = case.changed(scenarios=tuple(_with_changed_reasoning(one, change) for one in case.scenarios))
    return None if changed == case else Altered(changed)


def _with_changed_reasoning(scenario: Scenario, change: Callable[[Reasoning], Reasoning | None]) -> Scenario:
    execution, before = scenario.execution, scenario.execution.transcript
    sources: tuple[ItemSource | None, ...] = before.sources or (None,) * len(before.items)
    kept = [
        (item, source)
        for one, source in zip(before.items, sources, strict=True)
        if (item := change(one) if isinstance(one, Reasoning) else one) is not None
    ]
    transcript = Transcript(
        items=tuple(item for item, _ in kept), sources=tuple(source for _, source in kept if source is not None)
    )
    return scenario.changed(execution=execution.changed(transcript=transcript))


def same_case(case: Case) -> Altered:
    """The case itself: what differs is what jurors are shown of each other."""
    return Altered(case)


def asked_alone(resolved: ResolvedPanel) -> ResolvedPanel:
    """The panel whose rounds show a seat its own evaluation and no other."""
    panel = resolved.panel
    if len(panel.seats) == 1 or not panel.discussion.max_rounds:
        raise SettingsRefused("{probes} reflection: the panel has no discussion, whose control this is", usage=False)
    if panel.final.calibration is not None:
        raise SettingsRefused(
            "{probes} reflection: the panel's calibration was certified for its discussion; leave final.calibration "
            "out",
            usage=False,
        )
    return resolved._replace(panel=panel.changed(discussion=panel.discussion.changed(history="none")))


SPEAKERS = "speakers"
"""The probe whose twins are judged by another panel: in a run of their own."""

MASTER_KEY = "master-key"
"""The probe whose twins have answers without content."""

INJECTION: Final = "injection"
"""The probe whose twins a juror may judge more strictly: only leniency is a fault."""

MARKING = "marking"
"""The probe that judges the twins of `injection` under both ways to mark judged text: the other one in a run of its
own."""

REFLECTION = "reflection"
"""The probe whose twins are the cases themselves, judged by seats that are not shown their peers: in a run of their
own."""

_ANSWER = "an answer to change"
_REASONING = "recorded reasoning of the agent"


Alter = Callable[[Case, str], Altered | None]


class Probe(NamedTuple):
    """How twins are made."""

    alter: Alter
    """A pure function of a case and the best verdict of its jurors' scale; None: the case has no such twin."""
    needs: str = ""
    """What a case must have for a twin; '': every case has one."""


def _in_any_scale(alter: Callable[[Case], Altered | None]) -> Alter:
    return lambda case, _best: alter(case)


PROBES: Mapping[str, Probe] = {
    SPEAKERS: Probe(_in_any_scale(speakers)),
    "scenarios": Probe(_in_any_scale(scenarios), "a second scenario"),
    "records": Probe(_in_any_scale(records), "a second record of a kind"),
    "length": Probe(_in_any_scale(length), _ANSWER),
    "format": Probe(_in_any_scale(layout), _ANSWER),
    MASTER_KEY: Probe(_in_any_scale(master_key)),
    INJECTION: Probe(injection, _ANSWER),
    MARKING: Probe(injection, _ANSWER),
    "identity": Probe(_in_any_scale(identity), _ANSWER),
    "reasoning": Probe(_in_any_scale(confident), _REASONING),
    "no-reasoning": Probe(_in_any_scale(removed), _REASONING),
    REFLECTION: Probe(_in_any_scale(same_case)),
}


class AbsentTwins(NamedTuple):
    """Probes of which no case that was read has a twin."""

    probes: tuple[str, ...]
    first: int | None
    """How many cases were read, from the first on; None: all."""

    def lines(self) -> list[str]:
        """A line for each probe, with the reason."""
        if self.first is None:
            return [f"no case has {PROBES[name].needs}: probe {name} has no twin" for name in self.probes]
        cases = f"the first {pluralize(self.first, 'case')}"
        return [f"none of {cases} has {PROBES[name].needs}: probe {name} has no twin so far" for name in self.probes]


def twin(case: Case, probe: str, best: str = PASS) -> Case | None:
    """The case's twin; None if it has none.

    Args:
        best: the best verdict of the scale that the jurors judge in, for texts that ask for it.
    """
    if parse_twin_id(case.case_id) is not None:
        raise CaseFileError(f"the case {visible_line(case.case_id, 60)!r} is a twin: probe the cases themselves")
    altered = PROBES[probe].alter(case, best)
    return None if altered is None else twin_of(case, probe, altered)


def absent_twins(cases: CaseSource, probes: Sequence[str], *, seconds: float) -> AbsentTwins:
    """The probes without a twin; cases are read until each probe has one.

    Args:
        cases: are read from the first on; records behind URIs are not fetched.
        seconds: how long cases are read at most once any probe has a twin. Before that, reading goes on: a run without
            twins shows nothing.
    """
    end = time.monotonic() + seconds
    absent = list(probes)
    number = 0
    for number, case in enumerate(cases(lambda _case: False), start=1):
        absent = [probe for probe in absent if twin(case, probe) is None]
        if not absent or (len(absent) < len(probes) and time.monotonic() >= end):
            return AbsentTwins(tuple(absent), number)
    return AbsentTwins(tuple(absent) if number else (), None)


def with_twins(cases: CaseSource, probes: Sequence[str], best: str = PASS) -> CaseSource:
    """Each case, followed by its twins; `best` as for `twin`."""

    def source(fetch: Fetch) -> Iterator[Case]:
        for case in cases(lambda found: any(map(fetch, _with_its_twins(found, probes, best)))):
            yield from _with_its_twins(case, probes, best)

    return source


def twins_alone(cases: CaseSource, probe: str) -> CaseSource:
    """The twins without the cases."""

    def source(fetch: Fetch) -> Iterable[Case]:
        def wanted(found: Case) -> bool:
            made = twin(found, probe)
            return made is not None and fetch(made)

        return (made for case in cases(wanted) if (made := twin(case, probe)) is not None)

    return source


def _with_its_twins(case: Case, probes: Sequence[str], best: str) -> list[Case]:
    return [case, *(made for probe in probes if (made := twin(case, probe, best)) is not None)]


def reversed_seats(resolved: ResolvedPanel) -> ResolvedPanel:
    """The panel with its seats, and the order in which they speak, reversed."""
    panel = resolved.panel
    rules = panel.discussion
    if len(panel.seats) == 1 or not rules.max_rounds:
        raise SettingsRefused(
            "{probes} speakers: the panel has no discussion, so no seat speaks before another", usage=False
        )
    if rules.speakers.kind == "seeded":
        raise SettingsRefused(
            "{probes} speakers: the panel draws the order of its speakers; use fixed or rotating speakers for this "
            "probe",
            usage=False,
        )
    speakers = rules.speakers.changed(base=rules.speakers.base[::-1])
    changed = panel.changed(seats=panel.seats[::-1], discussion=rules.changed(speakers=speakers))
    return resolved._replace(panel=changed)


def first_speaker(panel: Panel) -> str:
    """Whose words the others are shown first: the first speaker of a sequential discussion, else the first seat."""
    rules = panel.discussion
    return rules.speakers.base[0] if rules.order == "sequential" else panel.juror_ids[0]


_OTHER: dict[Marking, Marking] = {"lines": "words", "words": "lines"}


def check_comparable(resolved: ResolvedPanel) -> None:
    """Refuse a panel that cannot be asked with another marking."""
    if resolved.panel.final.calibration is not None:
        raise SettingsRefused(
            "{probes} marking: the panel's calibration was certified for one marking; leave final.calibration out",
            usage=False,
        )


def other_marking(resolved: ResolvedPanel) -> ResolvedPanel:
    """The panel with the other marking."""
    return resolved._replace(panel=resolved.panel.changed(marking=_OTHER[resolved.panel.marking]))
