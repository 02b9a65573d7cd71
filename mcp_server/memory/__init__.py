"""The tools of the memory family."""
