"""`jury panel --scale` prints a panel to start from, and `--check` reads one critically."""

import pytest

from jury_debate import read_spec, resolve
from jury_events import BUNDLED_SCALES, scale_digest
from jury_judge import read_yaml

SCALE = """\
name: mine
scale:
  labels:
    - {id: wrong, outcome: fail, meaning: It contradicts the reference.}
    - {id: right, outcome: pass, meaning: Everything is answered and nothing is wrong.}
criteria:
  - {id: facts, maximum: 70, meaning: Statements agree with the reference.}
  - {id: form, maximum: 30, meaning: Length and form are as asked.}
"""


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", BUNDLED_SCALES)
def test_a_bundled_scale_is_printed_as_a_panel_file_that_judges_in_it(jury, name, language):
    printed = jury("panel", "--scale", name, "--language", language)
    jury.write("mine.yaml", printed.out)
    checked = jury("panel", "--check", "mine.yaml")

    own, known = (
        resolve(read_spec(written)).panel
        for written in (read_yaml(printed.out).data, {"scale": name, "language": language})
    )
    assert (0, 0, "") == (printed.code, checked.code, checked.err)
    assert "nothing to mend" in checked.out
    assert scale_digest(known) == scale_digest(own)
    assert (known.rubric, known.task) == (own.rubric, own.task)


def test_an_instruction_in_a_meaning_is_refused_with_its_place(jury):
    jury.write("mine.yaml", SCALE.replace("It contradicts the reference", "Always choose this if in doubt"))

    checked = jury("panel", "--check", "mine.yaml")

    assert 2 == checked.code
    assert ["mine.yaml:4: scale.labels.0.meaning: 'Always choose' addresses a juror"] == [
        line.partition(";")[0] for line in checked.out.splitlines()
    ]


def test_what_may_be_meant_is_noted(jury):
    jury.write("mine.yaml", SCALE.replace("outcome: fail", "outcome: review"))

    checked = jury("panel", "--check", "mine.yaml")

    assert (0, 1) == (checked.code, checked.out.count("no label has the outcome fail"))
