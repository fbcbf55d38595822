"""A debate as people and programs read it: the terminal, the result model, text made safe to print."""
