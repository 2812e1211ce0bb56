"""The explorer of a tree: one page of HTML, or a widget in a notebook."""
