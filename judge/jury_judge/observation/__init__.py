"""What can be observed of the work: lines of the log, metrics."""
