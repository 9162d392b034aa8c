"""A site without names, to be given away."""
