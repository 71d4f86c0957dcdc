"""Count words that a stranger stumbles over: openers without a subject, long sentences, vague names.

    python tests/checks/words.py [--list KIND] [FOLDER ...]

Reads the tracked files below the folders (all if left out) and prints one line a kind with its count and its limit.
``--list`` names the places of one kind. Status 1 if a limit is broken.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

OPENERS = {"of", "what", "who", "whose", "whom", "where", "that", "those", "which", "such", "likewise", "so", "not"}
OPENERS |= {"it", "its", "they", "them", "there"}
BARE_ONE = re.compile(
    r"\W*one(?:\W*$|[.,:;']| (?:of|that|which|who|is|in|by|for|to|more|only|with|without|and|or)\b)", re.I
)
"""Opener "One" without a noun behind it; "One rank sleeps" names its subject."""
NAMES = ("found", "own", "here", "there", "said", "told", "one", "known")
MOST_OPENERS = 0.05
"""Share of comments and docstrings that may begin without a subject."""
MOST_NAMES = 1e-3
"""Share of the lines of code that may hold one of the vague names."""
MOST_WORDS = 30
"""Words that a sentence of a page may have."""
CPP = (".cpp", ".hpp", ".ipp")
MARKS = {".js": "//", ".cmake": "#", ".txt": "#", ".toml": "#"}
"""Marks of comments in other files, whose names are not counted."""
PYTHON = (".py", ".pyi")
NOT_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.STRING)

Texts = list[tuple[int, str]]
Code = dict[int, set[str]]


@dataclass
class Tally:
    """Places of each kind, with the numbers of texts and of lines of code that were read."""

    openers: list[str] = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    texts: int = 0
    lines: int = 0

    def rates(self) -> dict[str, float]:
        """Share of the lines of code that hold each vague name."""
        counts = {name: sum(place.endswith(f" {name}") for place in self.names) for name in NAMES}
        return {name: count / max(self.lines, 1) for name, count in counts.items()}


def main() -> int:
    """Print the counts of the files that the command line names; return 1 if a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=["."], metavar="FOLDER")
    parser.add_argument("--list", choices=("openers", "descriptions", "sentences", "names"))
    options = parser.parse_args()
    tally = Tally()
    for path in tracked(options.folders):
        read(path, tally)
    if options.list:
        print(*getattr(tally, options.list), sep="\n")
    return report(tally)


def report(tally: Tally) -> int:
    """Print a line a kind; return 1 if a limit is broken."""
    share = len(tally.openers) / max(tally.texts, 1)
    rates = tally.rates()
    print(
        f"openers without a subject: {len(tally.openers)} of {tally.texts} comments and docstrings, {share:.1%}"
        f" (at most {MOST_OPENERS:.0%})"
    )
    print(f"one-word parameter descriptions: {len(tally.descriptions)} (0)")
    print(f"sentences of more than {MOST_WORDS} words in pages: {len(tally.sentences)} (0)")
    print(
        f"vague names in 1000 lines of code (at most {MOST_NAMES * 1e3:.0f} each): "
        + ", ".join(f"{name} {rate * 1e3:.1f}" for name, rate in rates.items())
    )
    broken = share > MOST_OPENERS or tally.descriptions or tally.sentences or max(rates.values()) > MOST_NAMES
    return 1 if broken else 0


def tracked(folders: list[str]) -> Iterator[Path]:
    """Yield the tracked files below the folders that hold words of the project, not those that programs wrote."""
    listed = subprocess.run(["git", "ls-files", "-z", *folders], capture_output=True, check=True).stdout
    for name in sorted(filter(None, listed.decode().split("\0"))):
        path = Path(name)
        written = name.startswith("tests/golden/") or re.match(r"results/.*/", name) or name == "CHANGELOG.md"
        if path.suffix in {*CPP, *PYTHON, *MARKS, ".md"} and not written and path.exists():
            yield path


def read(path: Path, tally: Tally) -> None:
    """Add one file to the tally."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        tally.sentences += [f"{path}:{line}: {sentence}" for line, sentence in long_sentences(text)]
        return
    texts, code = python_words(text) if path.suffix in PYTHON else marked_words(text, MARKS.get(path.suffix, "//"))
    if path.suffix in MARKS:
        code.clear()
    tally.texts += len(texts)
    tally.lines += len(code)
    tally.openers += [f"{path}:{line}: {words.splitlines()[0][:100]}" for line, words in texts if subjectless(words)]
    tally.names += [
        f"{path}:{line}: {name}" for line, names in sorted(code.items()) for name in sorted(names & set(NAMES))
    ]
    for line, words in texts:
        tally.descriptions += [f"{path}:{line}: {entry}" for entry in one_word_descriptions(words)]


def subjectless(words: str) -> bool:
    """Whether a comment or docstring begins without its subject."""
    if re.match(r"[^.!?]*\?", words):
        return False  # a question: "What does a put cost?"
    first = re.match(r"\W*([A-Za-z']+)", words)
    return bool(first and first[1].lower() in OPENERS) or bool(BARE_ONE.match(words))


def marked_words(text: str, mark: str) -> tuple[Texts, Code]:
    """Return the comments behind a mark, and the identifiers of each line of code."""
    comments: Texts = []
    code: Code = {}
    column = -1  # place of the comment on the line before
    for number, line in enumerate(text.splitlines(), 1):
        bare = re.sub(r'"(?:\\.|[^"\\])*"|(?<!\w)\'(?:\\.|[^\'\\])+\'', lambda quoted: "_" * len(quoted[0]), line)
        before, separator, comment = bare.partition(mark)
        continues = not before.strip() and len(before) == column
        if comment.strip() and not comment.startswith((" NOLINT", " clang-format")) and not continues:
            comments.append((number, comment.strip()))
        column = len(before) if separator else -1
        if before.strip():
            code[number] = set(re.findall(r"[A-Za-z_]\w*", before))
    return comments, code


def python_words(text: str) -> tuple[Texts, Code]:
    """Return the comments and docstrings, and the identifiers of each line of code, of a Python file."""
    texts: Texts = []
    code: Code = {}
    last = -1  # line of the comment before, if it stood alone
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        number = token.start[0]
        if token.type == tokenize.COMMENT:
            comment = token.string.lstrip("#!: ")
            alone = not token.line[: token.start[1]].strip()
            cell = comment.startswith("%%")  # mark of a notebook's cell
            if comment and not cell and not (alone and last == number - 1):
                texts.append((number, comment))
            last = number if alone and not cell else -1
        elif token.type not in NOT_CODE and token.string:
            code.setdefault(number, set())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            texts.append((node.lineno, node.value.value.strip()))
        for key in ("id", "arg", "attr", "name"):
            if isinstance(name := getattr(node, key, None), str) and hasattr(node, "lineno"):
                code.setdefault(node.lineno, set()).add(name)
    return [(line, words) for line, words in texts if not words.startswith(("noqa", "type:", "fmt:", "pragma"))], code


def one_word_descriptions(docstring: str) -> Iterator[str]:
    """Yield the parameters of a docstring's numpydoc sections whose description is one word."""
    lines = [*docstring.splitlines(), ""]
    for head, description, after in zip(lines, lines[1:], lines[2:], strict=False):
        parameter = re.match(r"( *)\*{0,2}\w+(?:, \*{0,2}\w+)* : \S", head)
        inside = parameter and f"{parameter[1]}    "
        if inside and re.fullmatch(rf"{inside}\w+\.?", description) and not after.startswith(inside):
            yield f"{head.strip()}: {description.strip()}"


def long_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a page that have too many words; code, tables and addresses do not count."""
    fenced = False
    block: Texts = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        skipped = fence or fenced or not line.strip() or re.match(r"\s*\||#|    ", line)
        if skipped or re.match(r"\s*(?:[-*+]|\d+\.)\s", line):
            yield from long_in(block)
            block = []
        if not skipped:
            block.append((number, re.sub(r"^\s*(?:[-*+]|\d+\.)\s", "", line)))


def long_in(block: Texts) -> Iterator[tuple[int, str]]:
    """Yield the long sentences of one paragraph, with the line at which the paragraph begins."""
    joined = " ".join(line.strip() for _, line in block)
    joined = re.sub(r"`[^`]*`", "CODE", re.sub(r"\]\([^)]*\)", "]", joined))
    for sentence in re.split(r"(?<=[.!?:])[\"')\]*]*\s+(?=[\"'(\[*]*[A-Z0-9])", joined):
        count = len(re.findall(r"[A-Za-z0-9][\w'./%+@-]*", sentence))
        if count > MOST_WORDS:
            yield block[0][0], f"{count} words: {sentence[:90]}"


if __name__ == "__main__":
    sys.exit(main())
