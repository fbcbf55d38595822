"""`jury completion`: completion of commands, options and files in a shell. Click does the work."""

import re

import click
from click.shell_completion import CompletionItem, get_completion_class

VARIABLE = "_JURY_COMPLETE"
"""The environment variable by which a shell's completion asks the command."""

_SHELLS = ("bash", "zsh", "fish")
_FILES = re.compile(r"\b(FILE|FOLDER|DIR|PATH|CASSETTE|CASES)\b")


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that completes `jury` in a shell.

    \b
    bash: jury completion bash > ~/.local/share/bash-completion/completions/jury
    zsh:  jury completion zsh > "${fpath[1]}/_jury"
    fish: jury completion fish > ~/.config/fish/completions/jury.fish

    Open a new shell afterwards.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "jury", VARIABLE).source())


def command_names(names: dict[str, str], incomplete: str) -> list[CompletionItem]:
    """The names that begin so, with their descriptions."""
    return [CompletionItem(name, help=text) for name, text in names.items() if name.startswith(incomplete)]


def complete_files(command: click.Command) -> None:
    """Let values be completed as paths where the help calls them files or folders."""
    for parameter in command.params:
        if type(parameter.type) is type(click.STRING) and _FILES.search(parameter.metavar or ""):
            parameter.type = click.Path()
