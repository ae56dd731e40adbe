"""The documentation site: its pages are assembled from `docs/` and from the code, and MkDocs makes HTML of them.

- `python -m website` writes the source of the site to `build/site-source`; `make docs` does so and builds `build/site`.
- Files of the repository that a page links to and that lie outside of `docs/` become pages under `project/`.
- The lines from `<!-- generated: NAME -->` to `<!-- /generated -->` are replaced by a text made from the code
  (`website/generated.py`).
- `python -m website.picture` draws the picture of the landing page, `python -m website.recording` records its terminal.
- `python -m website.readability` measures the prose of each page, by the Python of `.venv-docs`.
"""
