"""The log sealed while debates run; witnesses and time-stamping authorities."""
