"""Deciders in other processes: what goes over the wire, and who sits at its ends.

`endpoint` moves bytes. Each protocol writes what happened, reads what was decided, and has a policy
that does both in turn; `serving` is the other side.
"""
