"""One suite over every store: what the docstrings of the ports say, as tests."""
