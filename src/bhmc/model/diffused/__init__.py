"""Transitions whose locations diffuse from parent to child: trees that follow geometry."""
