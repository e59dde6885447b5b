"""From a file to indexed chunks: parsing and the durable job of a document."""
