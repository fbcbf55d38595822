"""Messages to another system when a debate waits for a person."""
