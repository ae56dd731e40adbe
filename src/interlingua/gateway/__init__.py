"""The gateway: any client dialect in, any provider out, as one async callable."""
