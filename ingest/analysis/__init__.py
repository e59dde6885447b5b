"""What analysis of a communication is about: the catalogs of categories, criteria and scenarios."""
