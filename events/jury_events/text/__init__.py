"""Text of terminals, messages and files: printable characters, plurals, times, lines. No knowledge of debates."""
