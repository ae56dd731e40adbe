"""From the configuration of a LiteLLM proxy to one of ours: what `il migrate litellm` does."""
