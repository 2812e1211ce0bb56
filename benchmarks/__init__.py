"""What is measured: speed, memory, growth, agreement. `make help` lists the commands."""

import warnings

# Fits of a few hundred sweeps say that they have not converged; the tables say what matters here.
warnings.filterwarnings("ignore", message="The chains have not converged")
