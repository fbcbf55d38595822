"""An example package that extends Jury Judge."""
