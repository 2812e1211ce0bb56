"""What a `Tree` can be turned into: tables, cuts, smaller trees, text, and other libraries' forms.

Functions here take a tree and return plain values; `Tree` has a thin method for each. None of them
is recursive, so that neither depth nor size of a tree can end in a RecursionError.
"""
