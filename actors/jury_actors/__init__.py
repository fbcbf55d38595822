"""Who does it: coordinator, jurors and clerk, as plain classes and as Ray actors; providers of models."""
