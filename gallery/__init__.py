"""The gallery: other people's clients in front of the gateway, every scenario tried with the lines of `il connect`."""
