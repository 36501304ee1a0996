"""For mkdocstrings: our docstrings as Markdown. Doctests become code blocks, `name : what it is` under a ruled title a list."""

import re

import griffe

RULED = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^([\w, ]+?) : ", re.MULTILINE)


def as_markdown(text: str) -> str:
    """A docstring, inspected and cleaned by griffe, as Markdown.

    >>> print(as_markdown("Adds.\\n\\n>>> 1 + 1\\n2"))
    Adds.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.lstrip().startswith(">>> "):
            paragraphs.append(f"```pycon\n{paragraph.strip()}\n```")
        elif title := RULED.match(paragraph):
            entries = ENTRY.sub(lambda entry: f"- `{entry[1]}`: ", paragraph[title.end() :])
            paragraphs.append(f"**{title[1]}**\n\n{entries}")
        else:
            paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


class Docstrings(griffe.Extension):
    """Puts it to every docstring that is read."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Called by griffe once an object and its members are known."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
