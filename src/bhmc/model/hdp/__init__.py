"""The published transition: a node's mixing weights follow its parent's (HDP)."""
