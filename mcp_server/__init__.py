"""The memory over the Model Context Protocol; light enough to start with every client."""
