"""The events of a debate: frozen events, value objects, codec and hash chain. No database, no clock."""
