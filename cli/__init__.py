"""The `graph-memory` command: one module per group, each importing lazily what it needs."""
