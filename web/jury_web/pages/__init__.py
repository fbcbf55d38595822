"""The pages: the values of each as plain tuples, which templates render."""
