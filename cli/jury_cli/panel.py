"""`jury panel`: the bundled panel files, as templates."""

import click

from jury_cli.exits import Exit
from jury_judge.panels.document import BUNDLED_PANELS, bundled_panel_text


@click.command("panel")
@click.argument("name", type=click.Choice(BUNDLED_PANELS))
def command(name: str) -> int:
    """Print a bundled panel file: copy it, change it, and pass it to --panel."""
    print(bundled_panel_text(name), end="")
    return Exit.DONE
