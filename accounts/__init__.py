"""Clients, keys, features and integrations: who may ask for what."""
