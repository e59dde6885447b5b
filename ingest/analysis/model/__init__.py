"""Analysis by a language model: prompts, typed answers, and conversations in parts that fit."""
