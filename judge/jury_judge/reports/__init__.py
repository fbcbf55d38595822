"""Reports over the votes of stored debates."""
