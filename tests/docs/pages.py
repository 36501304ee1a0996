"""The documentation as the tests read it: pages, their blocks of code, the commands in them."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]

FENCE = re.compile(r"^(?P<mark>```+)(?P<info>[^\n`]*)\n(?P<code>.*?)^(?P=mark)[ ]*$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?:^ {4}merlin .*\n)+", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """Code on a page."""

    info: str
    """What follows the fence: a language, perhaps with `notest`."""
    code: str
    before: str
    """The paragraph before it."""
    line: int

    @property
    def python(self) -> bool:
        return self.info.split()[:1] == ["python"]

    @property
    def shell(self) -> bool:
        return self.info in ("", "sh", "bash")

    def commands(self) -> list[list[str]]:
        """The arguments of every `merlin` in it."""
        return [words for line in self.code.splitlines() for part in parts_of(line) if (words := arguments(part))]


def blocks(text: str) -> list[Block]:
    """All code on a page, in order."""
    matches = [(match.start(), match["info"].strip(), match["code"]) for match in FENCE.finditer(text)]
    matches += [(match.start(), "", match[0]) for match in INDENTED.finditer(without_code(text))]
    return [
        Block(info, code, text[:start].rstrip().rpartition("\n\n")[2], text.count("\n", 0, start) + 2)
        for start, info, code in sorted(matches)
    ]


def without_code(text: str) -> str:
    """The text with fenced code blanked out, character for character."""
    return FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def parts_of(line: str) -> list[str]:
    """A line's commands: those that a semicolon divides, without what follows a #."""
    return re.split(r";\s+", re.sub(r"(^|\s)#.*", "", line))


def arguments(command: str) -> list[str]:
    """What follows `merlin`; nothing for other programs."""
    words = shlex.split(command) if "merlin" in command else []
    while words and re.fullmatch(r"\w+=.*", words[0]):
        words = words[1:]
    return words[1:] if words and words[0] in ("merlin", ".venv/bin/merlin") else []
