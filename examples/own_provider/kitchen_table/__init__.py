"""An example of what a package of one's own adds to Jury Judge."""
