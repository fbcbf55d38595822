"""`jury panel`: the panel files that come with the package, to start one's own from."""

import click

from jury_judge.cli.exits import Exit
from jury_judge.panels.document import JURIES, jury_text


@click.command("panel")
@click.argument("name", type=click.Choice(JURIES))
def command(name: str) -> int:
    """Print a panel file that comes with the package: copy it, change it, and name it to --panel."""
    print(jury_text(name), end="")
    return Exit.DONE
