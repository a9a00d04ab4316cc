"""Tools that this program may call. A call that is refused or fails raises ToolError."""
from __future__ import annotations

__all__ = ["ToolError"]


class ToolError(Exception):
    """A call was refused or failed: error_class, such as tool_timeout, and message."""

    def __init__(self, error_class, message):
        super().__init__(f"{error_class}: {message}")
        self.error_class, self.message = error_class, message


_ABSENT = object()
_state = {}


def _call(name, arguments):
    import json, os, socket, threading
    lock = _state.setdefault("lock", threading.Lock())
    with lock:
        if _state.get("process") != os.getpid():
            _state["file"] = socket.create_connection(("callgate-tools", 1)).makefile("rwb")
            _state["process"] = os.getpid()
        file = _state["file"]
        arguments = {k: v for k, v in arguments.items() if v is not _ABSENT}
        file.write(json.dumps({"name": name, "arguments": arguments}).encode() + b"\n")
        file.flush()
        line = file.readline()
    if not line:
        raise ToolError("tool_failed", "the connection to the tools has ended")
    answer = json.loads(line)
    if answer.get("error"):
        raise ToolError(answer["error"]["class"], answer["error"]["message"])
    return answer.get("output")


def look_up(item: str, *, currency: Literal["EUR", "USD"] = _ABSENT, max_price: float | None = _ABSENT, exact: bool = _ABSENT):
    """Looks up a price.
    Use it for one item.
    currency: of the price"""
    return _call("look-up", {"item": item, "currency": currency, "max-price": max_price, "exact": exact})


__all__.append("look_up")


def look_up_(*, class_: object = _ABSENT, import_: object = _ABSENT, list: list = _ABSENT, map: dict = _ABSENT, n: int = _ABSENT, a_b: object = _ABSENT):
    """Has the same name, and hostile text: \"\"\" */ \\ '"""
    return _call("look_up", {"class": class_, "import": import_, "list": list, "map": map, "n": n, "a b": a_b})


__all__.append("look_up_")


def class_():
    """Is named as a keyword is."""
    return _call("class", {})


__all__.append("class_")


def _1st():
    """Begins with a digit."""
    return _call("1st", {})


__all__.append("_1st")
