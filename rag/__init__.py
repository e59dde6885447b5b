"""Embedding, the language-model client, chunking, the index and hybrid search."""
