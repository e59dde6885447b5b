"""The agent over the tools: its engines, chats and conversations."""
