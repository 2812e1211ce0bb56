"""The Pitman-Yor diffusion tree."""
