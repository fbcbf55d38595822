"""Recorded debates in the forms that the command, the pages and the Python API share."""
