"""The source as bytes: what may be parsed, and where things stand in it."""

def declared_encodings(line):
    """The encodings that a line may declare by PEP 263, and whether a later
    line may still declare one. The tokenizer takes the first "coding:" or
    "coding=" that a name follows; all of them are looked at."""
    text = line.lstrip(b" \t\f")
    if text and not text.startswith(b"#"):
        return [], False
    names = []
    at = text.find(b"coding")
    while at >= 0:
        rest = text[at + len(b"coding"):]
        if rest[:1] in (b":", b"="):
            name = rest[1:].lstrip(b" \t")
            end = 0
            while end < len(name) and (name[end:end + 1].isalnum() or name[end:end + 1] in (b"-", b"_", b".")):
                end += 1
            if end:
                names.append(name[:end].decode("latin-1"))
        at = text.find(b"coding", at + 1)
    return names, not names


def check_encoding(source):
    """Refuses any declared encoding but UTF-8: under another, such as utf_7,
    the bytes that run are not the text that anyone reads. The tokenizer ends
    lines at CR too when it reads a file, so every reading is held to it."""
    unified = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for reading in (source, source.replace(b"\r", b"\n"), unified):
        for number, line in enumerate(reading.split(b"\n", 2)[:2], 1):
            names, more = declared_encodings(line)
            for name in names:
                plain = name.lower().replace("_", "-")
                if plain not in ("utf-8", "utf8") and not plain.startswith("utf-8-"):
                    raise Unreadable("the source declares the encoding %s; only utf-8 is taken" % name[:40], number, 1)
            if not more:
                break


def parse(source):
    """The program's tree. compile() to the end finds what the grammar alone
    takes, such as a return outside of a function."""
    if b"\0" in source:
        at = source.index(b"\0")
        raise Unreadable("the source has a NUL byte", source.count(b"\n", 0, at) + 1, 1)
    check_encoding(source)
    try:
        tree = compile(source, "<program>", "exec", 0x400, True)  # PyCF_ONLY_AST
        compile(source, "<program>", "exec", 0, True)
        return tree
    except SyntaxError as e:
        raise Unreadable("%s: %s" % (type(e).__name__, e.msg), e.lineno or 1, max(e.offset or 1, 1))
    except (RecursionError, MemoryError):
        raise Unreadable("the program is nested too deeply for its parser", 1, 1)
    except (ValueError, OverflowError, SystemError) as e:
        raise Unreadable("%s: %s" % (type(e).__name__, e), 1, 1)


class Text:
    """The source by lines, as the parser counts them: columns are in UTF-8."""

    def __init__(self, source):
        if source.startswith(b"\xef\xbb\xbf"):
            source = source[3:]
        self.lines = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")

    def of(self, node):
        """What the program says at node, shortened."""
        if node is None:
            return ""
        first, last = node.lineno - 1, node.end_lineno - 1
        if first == last:
            raw = self.lines[first][node.col_offset:node.end_col_offset]
        else:
            # No more lines than can be shown: a default may span the file.
            last_shown = min(last, first + MAX_TEXT)
            parts = [self.lines[first][node.col_offset:]] + self.lines[first + 1:last_shown + 1]
            if last_shown == last:
                parts[-1] = parts[-1][:node.end_col_offset]
            raw = b"\n".join(parts)
        text = raw[:4 * MAX_TEXT].decode("utf-8", "replace")
        return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"

    def column(self, node):
        return len(self.lines[node.lineno - 1][:node.col_offset].decode("utf-8", "replace")) + 1
