"""The classes and models that the two documents prescribe, on top of `Jury` and the rules."""
