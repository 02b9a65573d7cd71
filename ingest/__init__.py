"""From documents and transcripts to memories, without a language model."""
