"""`jury panel`: the panel files that come with the package, to start one's own from."""

import click

from jury_judge.cli.exits import Exit
from jury_judge.panels.document import BUNDLED_PANELS, bundled_panel_text


@click.command("panel")
@click.argument("name", type=click.Choice(BUNDLED_PANELS))
def command(name: str) -> int:
    """Print a panel file that comes with the package: copy it, change it, and name it to --panel."""
    print(bundled_panel_text(name), end="")
    return Exit.DONE
