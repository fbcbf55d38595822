"""What callers choose, as frozen values: the same checks for arguments, options, files and requests."""
