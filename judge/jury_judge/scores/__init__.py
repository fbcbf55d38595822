"""What debates came to, as scores on the traces that they judged, at the tools that have these traces."""
