"""What `make bench` and `make rivals` measure: speed, memory, cold start, rivals."""

import warnings

# Fits of a few hundred sweeps say that they have not converged; the tables say what matters here.
warnings.filterwarnings("ignore", message="The chains have not converged")
