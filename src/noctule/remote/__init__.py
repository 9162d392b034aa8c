"""Deciders in other processes and in C libraries: what they are told, and who is at the other end.

`endpoint` and `edc_library` move bytes. Each protocol writes what happened, reads what was decided,
and has a policy that does both in turn; `serving` is the other side.
"""
