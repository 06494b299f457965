"""The paper's experiments, each one a function that can be called and tested."""
