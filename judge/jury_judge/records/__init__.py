"""The debates of a store: read, counted, verified, done again, changed on record."""
