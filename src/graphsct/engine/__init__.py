"""The fast backend of training: a tape of primitives over buffers that are made once."""
