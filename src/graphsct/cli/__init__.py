"""The command graphsct."""
