"""From a camera's stream to events: capture, detection, tracking, and what a scenario makes of them."""
