"""From an audio file to a timeline: decoding, channels, voice activity, recognition."""
