"""Records of requests, and their observers: log, metrics, spans, cassettes."""
