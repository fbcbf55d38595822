"""The labels of the pages, in every language of the reader: a file for each page or subject."""
