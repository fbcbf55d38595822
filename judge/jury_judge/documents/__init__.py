"""The classes and models of the two documents, by their names, over `Jury` and the rules."""
