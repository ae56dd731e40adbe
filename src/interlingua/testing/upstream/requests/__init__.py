"""The members of every provider's requests, as tables: names, kinds, words, bounds."""
