"""The `jury` command: one module a subcommand. stdout is data, stderr everything else."""
