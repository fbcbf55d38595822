"""What the pages are labelled with, in each language."""
