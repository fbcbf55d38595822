"""A run: its input, its comparison with the store, its execution, its budget."""
