"""The debates over HTTP: pages for people, an interface for programs."""
