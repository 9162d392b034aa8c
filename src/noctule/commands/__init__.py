"""The commands of `noctule`, one module each: parse, call, print."""
