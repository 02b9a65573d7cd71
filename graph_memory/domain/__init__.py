"""Values, errors and policy: pure functions, without input or output, clock or randomness."""
