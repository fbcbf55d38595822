"""What happened in a debate: frozen events, value objects, codec and hash chain. Knows no database and no clock."""
