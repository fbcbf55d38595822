"""The adapters of the providers' SDKs, and what they share. Each SDK is imported by its adapter alone."""
