"""Conversations that come in as text: mail and chat exports."""
