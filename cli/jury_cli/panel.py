"""`jury panel`: panel files to start from, and a critical look at one."""

import click

from jury_cli.exits import Exit
from jury_cli.streams import note
from jury_events.bundled_scales import BUNDLED_SCALES
from jury_events.panel import Language
from jury_judge.panels.document import BUNDLED_PANELS, bundled_panel_text


@click.command("panel")
@click.argument("name", type=click.Choice(BUNDLED_PANELS), required=False)
@click.option("--scale", type=click.Choice(BUNDLED_SCALES), help="Print a panel that judges in this scale.")
@click.option("--language", type=click.Choice(["en", "ja"]), default="en", show_default=True, help="Of --scale.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of panel files, by which editors complete them.")
@click.option("--check", "path", metavar="FILE", help="Read the labels, criteria and meanings of a panel critically.")
def command(name: str | None, scale: str | None, language: Language, schema: bool, path: str | None) -> int:
    """Print a panel file: copy it, change it, and pass it to --panel."""
    from jury_judge.panels.scales import check_panel_file, scale_panel_text

    if [name, scale, path, schema or None].count(None) != 3:  # noqa: PLR2004  (all but one)
        named = ", ".join(BUNDLED_PANELS)
        raise click.UsageError(f"name a bundled panel ({named}), or write --scale, --schema or --check")
    if schema:
        from jury_judge.panels.panel_schema import panel_schema_text

        print(panel_schema_text(), end="")
        return Exit.DONE
    if path is not None:
        checked = check_panel_file(path)
        for line in checked.outside:
            note(f"jury: {line}")
        print("\n".join(checked.lines) or f"{path}: nothing to mend in what the panel judges by")
        return Exit.DONE if checked.usable else Exit.USAGE
    print(bundled_panel_text(name) if name is not None else scale_panel_text(str(scale), language), end="")
    return Exit.DONE
