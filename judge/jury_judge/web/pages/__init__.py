"""The pages: what each shows, told as plain values, and the templates that they go into."""
