"""The entry point of the command. Signals are handled before slow imports."""

import gc

from jury_cli.signals import take_signals


def main() -> None:
    """Run the command line."""
    take_signals()
    from jury_cli.main import main as command_line

    try:
        command_line()
    finally:
        # The interpreter looks for unreachable cycles before it ends, among all that is imported: a quarter of the CPU
        # time of a short command, for memory that the system frees anyway.
        gc.freeze()
