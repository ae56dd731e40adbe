"""OpenTelemetry: what observers are told, as spans and metrics."""
