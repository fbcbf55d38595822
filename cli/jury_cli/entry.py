"""The entry point of the command. Signals are handled before slow imports."""

from jury_cli.signals import take_signals


def main() -> None:
    """Run the command line."""
    take_signals()
    from jury_cli.main import main as command_line

    command_line()
