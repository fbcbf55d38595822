"""A server of the Model Context Protocol: agents and editors ask a jury, and read what it recorded."""
