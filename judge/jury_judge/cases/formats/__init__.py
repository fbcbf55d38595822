"""Rows as other systems export them: one module a format, each with what it is recognised by and how it is read."""
