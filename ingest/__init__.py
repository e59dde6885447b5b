"""Raw input to store and index: calls and documents, and the durable jobs that string their stages together."""
