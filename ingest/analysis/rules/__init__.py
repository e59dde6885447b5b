"""The built-in engine's rules: what can be told of a conversation without a language model."""
