"""What is looked for: each scenario turns what was detected, or the picture itself, into events."""
