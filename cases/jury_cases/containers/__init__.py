"""Reads rows from files: JSON, CSV, Parquet, Arrow, Inspect logs, folders of them, compressed or not."""
