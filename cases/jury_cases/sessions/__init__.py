"""Sessions of coding agents: lines of a file that together are one run of an agent."""
