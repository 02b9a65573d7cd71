"""Protocols of what the services need from outside; each states order, idempotence and errors."""
