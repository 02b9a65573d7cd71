"""The default store: one SQLite file that every process of a home opens."""
