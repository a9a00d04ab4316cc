"""Says what a Python program is, without running any of it.

Reads the program's bytes from standard input, has this very interpreter parse
and compile them, and prints one JSON document of facts. It must not import
what the program's directory may hold, so it is run isolated (-I -S), and it
imports built-in modules only, which also makes it start fast.

Every walk is a loop over a stack of its own: the parser takes programs that
are nested deeper than this interpreter's recursion limit.
"""

import _ast
import posix
import sys

try:
    from _json import encode_basestring_ascii as quote
except ImportError:
    from json.encoder import encode_basestring_ascii as quote
try:
    from _sha2 import sha256  # 3.12 and later
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

MAX_TEXT = 200  # characters of an annotation or default
MAX_OUTPUT = 1 << 20  # bytes of facts
MAX_DEPTH = 40  # steps that a name is followed through aliases and attributes
MAX_NAMES = 64  # that one name is followed to
FUNCTIONS = (_ast.FunctionDef, _ast.AsyncFunctionDef)
COMPREHENSIONS = (_ast.ListComp, _ast.SetComp, _ast.DictComp, _ast.GeneratorExp)
UNKNOWN = frozenset()


class Unreadable(Exception):
    """The program is refused: a message, a line and a column from 1."""
