"""Tokens of judged text as it is marked, by words and by lines, relative to the raw text, with public tokenizers.

    uv run --with tiktoken --with litellm python benchmarks/tokens.py CASES [CASES …] [--texts 432]

`CASES` are files that `jury run` reads. The texts are the requests, answers and messages of their cases, each once.
"""

import argparse
from collections.abc import Iterator

from vocabularies import counters

from jury_cases.case_files import CaseFiles
from jury_cases.labels import Labels
from jury_cases.options import CaseOptions
from jury_debate import datamark
from jury_debate.prompts_1 import line_marks
from jury_events.case import Case
from jury_events.transcript import Message, ToolResult

_MARKER, _SIGN = "⟦k3v9q2ma⟧", "kz:"


def main() -> None:
    """Print the ratios by tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--texts", type=int, help="the most texts that are counted; all by default")
    arguments = parser.parse_args()
    cases = CaseFiles(arguments.cases, CaseOptions(labels=Labels(refuse=False)))
    texts = list(dict.fromkeys(text for case in cases for text in _texts(case)))[: arguments.texts]
    print(f"{len(texts)} texts, {sum(map(len, texts)):,} characters")
    print(f"{'tokenizer':<16} {'words':>10} {'lines':>10}")
    for name, count in counters().items():
        raw = sum(map(count, texts))
        words = sum(count(datamark.mark(text, _MARKER)) for text in texts) / raw
        lines = sum(count(line_marks.mark(text, _SIGN)) for text in texts) / raw
        print(f"{name:<16} {words:>10.2f} {lines:>10.2f}")


def _texts(case: Case) -> Iterator[str]:
    for scenario in case.scenarios:
        yield scenario.question.prompt
        execution = scenario.execution
        if execution.response:
            yield execution.response
        for item in execution.transcript.items:
            if isinstance(item, Message | ToolResult):
                yield item.text


if __name__ == "__main__":
    main()
