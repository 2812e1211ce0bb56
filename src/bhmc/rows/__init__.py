"""Where the rows live, and what a sampler may ask of them."""
