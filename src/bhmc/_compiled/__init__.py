"""How kernels are compiled, cached and given random numbers."""
