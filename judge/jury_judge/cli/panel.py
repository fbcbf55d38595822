"""`jury panel`: the bundled panel files, as templates."""

import click

from jury_judge.cli.exits import Exit
from jury_judge.panels.document import JURIES, jury_text


@click.command("panel")
@click.argument("name", type=click.Choice(JURIES))
def command(name: str) -> int:
    """Print a bundled panel file: copy it, change it, and pass it to --panel."""
    print(jury_text(name), end="")
    return Exit.DONE
