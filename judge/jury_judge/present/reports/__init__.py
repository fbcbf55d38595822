"""What a list of judged cases comes to: counted, put to conditions, and written as files for a CI job."""
