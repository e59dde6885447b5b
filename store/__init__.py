"""The ground floor: settings, errors, database, durable jobs, blobs, model files, and one module per aggregate."""
