"""The REST layers, assembly of the app, and the command line."""
