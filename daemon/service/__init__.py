"""The daemon as a service of the user's own: what the service manager is told, and how it is asked."""
