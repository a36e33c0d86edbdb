"""Finds the definitions at the top level of a C++ file, and the places that name them.

Not a parser: comments and strings are blanked, and the rest is cut where brace
depth is 0. That is enough for emitted files, which are laid out by one writer.
"""
import functools
import re

BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                     re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#((?:[^\n]*\\\n)*[^\n]*)\n?", re.MULTILINE)
WORD = re.compile(r"[A-Za-z_]\w*")


@functools.lru_cache(maxsize=1)
def code_of(text):
    """The text without comments and contents of strings."""
    return BLANKED.sub(lambda m: '""' if m.group()[0] == '"' else " ", text)


def pieces(code):
    """Cuts at ; and } where no brace or parenthesis is open."""
    start = depth = 0
    for match in re.finditer(r"[{}();]", code):
        char, at = match.group(), match.start()
        if char in "{(":
            depth += 1
        elif char in "})":
            depth -= 1
        ends = char == ";" or (char == "}" and is_whole(code, at))
        if ends and depth == 0:
            yield code[start:at + 1]
            start = at + 1


def is_whole(code, at):
    """True if a definition ends with this brace: nothing of its line follows."""
    rest = code[at + 1:at + 40].lstrip(" ")
    return rest == "" or rest[0] == "\n"


def without_lists(head):
    """A head without template<...>, attributes and the likes of them."""
    head = re.sub(r"(__launch_bounds__|__align__|alignas)\s*\([^)]*\)|__attribute__\s*\(\(.*?\)\)",
                  " ", head)
    while True:
        shorter = re.sub(r"<[^<>]*>", " ", head)
        if shorter == head:
            return head
        head = shorter


def name_of(piece):
    """The name that a piece defines, or None: a declaration, or nothing."""
    head = without_lists(piece.split("{", 1)[0])     # a template's parameters have defaults
    head = head.split("=", 1)[0]
    words = WORD.findall(head)
    if not words or words[:2] == ["using", "namespace"]:
        return None
    if words[0] in ("static_assert", "extern") and "{" not in piece:
        return None
    if words[0] == "typedef" or (words[0] == "struct" and "{" not in piece):
        return WORD.findall(piece.rstrip("; \n"))[-1] if words[0] == "typedef" else None
    if "struct" in words[:2] or "enum" in words[:1] or "using" in words[:1]:
        named = [w for w in words if w not in ("template", "struct", "enum", "using", "class")]
        return named[0] if named else None
    if "(" in head:
        if "{" not in piece:
            return None
        return WORD.findall(head[:head.index("(")])[-1]
    return WORD.findall(re.split(r"\[", head)[0])[-1]


def definitions(code):
    """Pairs (name, text of its definition), namespaces and extern "C" gone into."""
    for piece in pieces(code):
        inner = re.match(r'\s*(?:namespace\s+\w+|extern\s+"")\s*\{(.*)\}\s*$', piece,
                         re.DOTALL)
        if inner:
            yield from definitions(inner.group(1))
            continue
        name = name_of(piece)
        if name:
            yield name, piece


def unused(text, public):
    """Names that nothing outside their own definitions mentions; `public` may be."""
    code = code_of(text)
    found = {}
    for match in DIRECTIVE.finditer(code):
        define = re.match(r"\s*define\s+(\w+)(.*)", match.group(1), re.DOTALL)
        if define:
            found.setdefault(define.group(1), []).append(match.group())
    for name, piece in definitions(DIRECTIVE.sub("", code)):
        found.setdefault(name, []).append(piece)
    count = {}
    for word in WORD.findall(code):
        count[word] = count.get(word, 0) + 1
    # A name's own definitions do not use it; nor does asking if it is defined.
    asked = re.findall(r"#\s*ifn?def\s+(\w+)", code)

    def outside(name, texts):
        return count[name] - asked.count(name) - sum(WORD.findall(t).count(name) for t in texts)

    for name, texts in sorted(found.items()):
        # An enumeration is used if one of its numbers is.
        names = [name] + (WORD.findall(texts[0].split("{", 1)[1])
                          if re.match(r"\s*enum\b", texts[0]) else [])
        if not any(outside(n, texts) > 0 for n in names) and not public(name):
            yield name
