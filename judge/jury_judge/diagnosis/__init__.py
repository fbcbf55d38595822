"""Whether debates could run here: what is installed, reachable and configured."""
