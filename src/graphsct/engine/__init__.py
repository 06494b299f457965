"""The fast backend of training: a tape of primitives over preallocated buffers."""
