"""The stored results of graphsct: the paper's tables and the leaderboard of remedies."""
