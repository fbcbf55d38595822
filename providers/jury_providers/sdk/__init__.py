"""The adapters of the providers' SDKs. Each SDK is imported by its adapter only."""
