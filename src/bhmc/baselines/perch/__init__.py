"""PERCH: a tree grown row by row with rotations."""
