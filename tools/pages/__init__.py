"""The one writer of pages: every figure on a page of this repository follows from a file under results/ or experiments/results/.

    python -m tools.pages              # writes all pages
    python -m tools.pages method       # writes some
    python -m tools.pages --check      # says which do not follow from the files

A module here writes one page, or one kind of page. Its `pages()` gives texts by their paths below the repository. Texts around
figures are in templates/, or, where a page is mostly text, on the page itself, outside the marks between which figures go.
"""
