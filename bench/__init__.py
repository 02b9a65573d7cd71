"""Measurements; timings stand here and never in a test."""
