"""The scoreboard: gateways and servers that install here, judged by the same three judges in one run.

`python -m scoreboard [name…]` starts one after the other, in front of the strict upstream, and writes
`docs/scoreboard.md`. Installing and starting the peers is the bench's (`bench.peers`, `bench.gateways`).
"""
