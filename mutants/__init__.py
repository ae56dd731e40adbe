"""Mutation testing of the pure layers: one small fault at a time, and whether a test notices.

Strategy: the tests run once, to learn which test runs which line. Then each mutant gets a process of its own, forked
before anything of the library is imported; there the one module is compiled from its changed tree, in memory, and only
the tests that run the changed line are run, those of the same room first, until one fails. No file is ever changed.
"""
