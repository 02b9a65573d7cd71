"""The background process: watches, learns, runs the jobs, serves embeddings and status."""
