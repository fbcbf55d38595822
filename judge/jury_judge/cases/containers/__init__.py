"""How decoded rows come out of files: JSON, CSV, Parquet, Arrow, Inspect logs, folders of them, compressed or not."""
