"""Rules version 3: version 2, and the form of prompts 2. Under prompts 1 it decides what version 2 decides."""
