"""Answers to a site's questions: how good the model is, what a change would do, why jobs waited."""
