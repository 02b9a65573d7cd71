"""Implementations of the ports; none imports another."""
