"""Where answers come from: one interface, one module a provider."""
