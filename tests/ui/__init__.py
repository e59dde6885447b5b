"""Browser tests of the web part, on the built files."""
