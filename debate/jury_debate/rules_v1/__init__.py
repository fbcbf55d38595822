"""Version 1 of the rules, frozen: what it read and decided once, it reads and decides for ever."""
