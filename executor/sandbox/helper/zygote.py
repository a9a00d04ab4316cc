"""A Python that has imported what programs often do, and forks one for each run.

It never runs a program itself: see zygote.c. What the fork runs finds this
interpreter as it would find one that was started for it, but for the imports,
one more frame below its own, and the hash secret, which all forks share.
"""

import ctypes
import gc
import os
import sys


def run(lib, modules):
    """In the program's process: becomes what `python -u program arguments` is."""
    lib.zygote_become()
    texts = lambda each: [os.fsdecode(t) for t in iter(map(each, range(512)).__next__, None)]
    argv, variables = texts(lib.zygote_argument), texts(lib.zygote_variable)
    os.environ.clear()
    os.environ.update(v.split("=", 1) for v in variables)
    sys.orig_argv[:] = argv
    sys.argv[:] = argv[2:]
    for module in [m for m in sys.modules if m not in modules]:
        del sys.modules[module]
    name = os.path.abspath(argv[2])  # as Python 3.9 and later name it
    sys.path[0] = os.path.dirname(os.path.realpath(name))
    loader = sys.modules["_frozen_importlib_external"].SourceFileLoader("__main__", name)
    main = sys.modules["__main__"] = type(sys)("__main__")
    main.__dict__.update(__loader__=loader, __annotations__={}, __builtins__=__builtins__, __file__=name, __cached__=None)
    interrupted = False
    try:
        status = lib.zygote_run(name.encode("utf-8", "surrogateescape"), main.__dict__)
        interrupted = status == 3
    except SystemExit as end:
        status = end.code
    del main
    leave(status, interrupted, modules)


def flush():
    """False where standard output cannot be written, which is status 120."""
    done = True
    for stream, matters in ((sys.stdout, True), (sys.stderr, False)):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception:
            done = done and not matters
    return done


def leave(status, interrupted, modules):
    """Ends the program as the interpreter would, in its order, and leaves out what nobody sees: taking
    down what the zygote had made, which would copy every page of it."""
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()
    __import__("atexit")._run_exitfuncs()
    if status is not None and not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    if status is not None and not -1 << 63 <= status < 1 << 63:
        status = -1  # what does not fit is an error
    flushed = flush()
    sys.last_type = sys.last_value = sys.last_traceback = None
    for name in [m for m in sys.modules if m not in modules or m == "__main__"]:
        del sys.modules[name]
    gc.collect()  # finalizes what they hold
    if not (flush() and flushed):
        status = 120
    if interrupted:
        import signal
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit((status or 0) & 0xFF)


def serve():
    lib = ctypes.PyDLL(sys.argv[1])  # keeps the interpreter's lock: there is one thread
    lib.zygote_argument.restype = lib.zygote_variable.restype = ctypes.c_char_p
    lib.zygote_run.argtypes = ctypes.c_char_p, ctypes.py_object
    lib.zygote_run.restype = ctypes.c_long
    own = {"ctypes", "_ctypes", "ctypes._endian"}
    before = set(sys.modules) - own
    for name in sys.argv[2].split(",") if sys.argv[2] else ():
        try:
            __import__(name)
        except ImportError:
            pass  # a program that wants it is told so
    modules = before | set(sys.modules) - own
    gc.collect()
    gc.freeze()
    lib.zygote_serve()
    # From here on this is PID 1 of a run.
    program = os.fork()
    if program == 0:
        run(lib, modules)
    lib.zygote_attend(program)


serve()
