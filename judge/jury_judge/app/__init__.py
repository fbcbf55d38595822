"""The application: everything that a command, a request or a caller of the Python API can have done."""
