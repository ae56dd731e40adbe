"""What is known of requests, and everything that tells it: log, metrics, spans, cassettes."""
