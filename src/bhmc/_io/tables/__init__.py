"""Tables of rows and columns, from files."""
