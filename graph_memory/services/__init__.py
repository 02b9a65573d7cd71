"""Use cases: one module each, over ports and policy."""
