"""The daemon as a service, and what can be wrong with an installation."""
