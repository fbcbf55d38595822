"""Rules version 2: version 1, and a verdict that a calibration does not accept becomes `needs_review`."""
