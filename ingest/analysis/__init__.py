"""From a timeline to what was agreed, judged and remembered: summary, quality control, memory."""
