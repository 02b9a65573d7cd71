"""The tools of the graph family."""
