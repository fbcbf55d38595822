"""The providers' batches, simulated: files, jobs, lists and results, with faults, on a clock that can be moved."""
