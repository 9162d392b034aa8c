"""A decision component in a shared library, called in this process: protocol 5 without a wire.

The library has three C functions. Its code is trusted as our own: one that crashes takes this
process with it, and one that never returns cannot be interrupted.
"""

from __future__ import annotations

import ctypes
import os
from types import TracebackType
from typing import Any, Literal, Self, get_args

from noctule.errors import InputError, ProtocolError
from noctule.remote.batsim5_reading import refuse_binary
from noctule.remote.endpoint import MOST_BYTES

__all__ = ["EdcLibrary"]

LoadMethod = Literal["dlopen", "dlmopen"]
LOAD_METHODS: tuple[LoadMethod, ...] = get_args(LoadMethod)

_INIT, _DECIDE, _DEINIT = (
    "batsim_edc_init",
    "batsim_edc_take_decisions",
    "batsim_edc_deinit",
)
# Symbols are found at once, stay in the library, and it prefers its own.
_FLAGS = os.RTLD_NOW | os.RTLD_LOCAL | getattr(os, "RTLD_DEEPBIND", 0)
_NEW_NAMESPACE = -1
_Buffer = ctypes.POINTER(ctypes.c_uint8)


class EdcLibrary:
    """Calls a component; initialised and deinitialised with a `with`.

    Attributes:
        path: the library.
        hello: the first message of the component, once it is initialised.
    """

    def __init__(self, path: str, init: bytes, *, method: LoadMethod = "dlopen") -> None:
        """Take the library, what it gets first, and whether it has a namespace of its own."""
        self.path = path
        self.hello = b""
        self._init = init
        self._method = method
        self._decisions = _Buffer()
        self._size = ctypes.c_uint32()
        self._output = ctypes.byref(self._decisions), ctypes.byref(self._size)
        self._functions: dict[str, Any] = {}

    def __enter__(self) -> Self:
        """Load and initialise the library."""
        library = self._loaded()
        for name in (_INIT, _DECIDE, _DEINIT):
            try:
                function = getattr(library, name)
            except AttributeError:
                raise InputError(
                    f"{self.path}: got no function {name}, expected a library with it"
                ) from None
            function.restype = ctypes.c_uint8
            self._functions[name] = function
        text, buffer = ctypes.c_char_p, ctypes.POINTER(_Buffer)
        n, n_pointer = ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint32)
        self._functions[_INIT].argtypes = [text, n, n_pointer, buffer, n_pointer]
        self._functions[_DECIDE].argtypes = [text, n, buffer, n_pointer]
        self._functions[_DEINIT].argtypes = []
        flags = ctypes.c_uint32(0)
        arguments = self._init, len(self._init), ctypes.byref(flags), *self._output
        self.hello = self._result(_INIT, self._functions[_INIT](*arguments))
        try:
            refuse_binary(flags.value, self.hello, f"{self.path}: {_INIT}")
        except BaseException:
            self._functions[_DEINIT]()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Deinitialise the library; it stays loaded, as its code may still be referred to."""
        code = self._functions[_DEINIT]()
        if code and error is None:
            raise ProtocolError(f"{self.path}: {_DEINIT}: got {code}, expected 0")

    def __call__(self, message: bytes) -> bytes:
        """Give a message to the library, and return its decisions.

        As on the wire, the message ends with a NUL, which is counted.
        """
        self._size.value = 0
        ctypes.memset(self._output[0], 0, ctypes.sizeof(self._decisions))
        code = self._functions[_DECIDE](message, len(message) + 1, *self._output)
        return self._result(_DECIDE, code)

    @property
    def address(self) -> int:
        """Where the function is that takes messages."""
        return ctypes.cast(self._functions[_DECIDE], ctypes.c_void_p).value or 0

    def reply_of(self, code: int, address: int, size: int) -> bytes:
        """Return the decisions that the function gave to somebody else, or say what is wrong."""
        return self._checked(_DECIDE, code, address, size)

    def _result(self, name: str, code: int) -> bytes:
        """Return what a function has put out; it belongs to the library until the next call."""
        return self._checked(name, code, self._decisions, self._size.value)

    def _checked(self, name: str, code: int, buffer: Any, size: int) -> bytes:
        if code:
            raise ProtocolError(f"{self.path}: {name}: got {code}, expected 0")
        if size > MOST_BYTES:
            raise ProtocolError(
                f"{self.path}: {name}: got {size} bytes, expected at most {MOST_BYTES}"
            )
        if size and not buffer:
            raise ProtocolError(f"{self.path}: {name}: got no buffer for {size} bytes")
        return ctypes.string_at(buffer, size) if size else b""

    def _loaded(self) -> ctypes.CDLL:
        try:
            if self._method == "dlopen":
                return ctypes.CDLL(self.path, mode=_FLAGS)
            return ctypes.CDLL(self.path, handle=_load_apart(self.path))
        except OSError as error:
            raise InputError(f"{self.path}: cannot be loaded: {error}") from None


def _load_apart(path: str) -> int:
    """Load a library into a namespace of its own."""
    system = ctypes.CDLL(None)
    try:
        load = system.dlmopen
    except AttributeError:
        raise InputError(
            f"{path}: this system has no dlmopen, expected the load method dlopen"
        ) from None
    load.restype = ctypes.c_void_p
    load.argtypes = [ctypes.c_long, ctypes.c_char_p, ctypes.c_int]
    # glibc knows no RTLD_DEEPBIND where nothing is shared
    handle = load(_NEW_NAMESPACE, os.fsencode(path), os.RTLD_NOW | os.RTLD_LOCAL)
    if not handle:
        system.dlerror.restype = ctypes.c_char_p
        raise OSError((system.dlerror() or b"for no reason given").decode(errors="replace"))
    return int(handle)
