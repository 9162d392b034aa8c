"""A decision component in a library whose C function is one of Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from noctule.remote.edc_library import EdcLibrary

#: What a function gives: its code, a text, and how long it says that the text is.
Given = tuple[int, bytes | None, int]

_FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_uint8,
    ctypes.c_void_p,
    ctypes.c_uint32,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_uint32),
)


def library_of(decide: Callable[[bytes], bytes | Given]) -> EdcLibrary:
    """Return a library; `decide` takes a message, and gives a reply or all that C would."""
    kept: list[Any] = []

    def take(message: int, size: int, reply: Any, reply_size: Any) -> int:
        given = decide(ctypes.string_at(message, size - 1))
        code, text, n = (0, given, len(given)) if isinstance(given, bytes) else given
        if text is not None:
            kept[:] = [ctypes.create_string_buffer(text, len(text) + 1)]
            reply[0] = ctypes.cast(kept[0], ctypes.c_void_p)
        reply_size[0] = n
        return code

    library = EdcLibrary("function", b"")
    function = _FUNCTION(take)
    pointer = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_uint32, pointer, pointer]
    library._functions["batsim_edc_take_decisions"] = function
    return library
