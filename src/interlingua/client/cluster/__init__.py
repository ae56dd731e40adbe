"""A map on many machines: shards of inputs, a folder of journals, and the engines that carry shards out."""
