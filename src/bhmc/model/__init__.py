"""What is sampled: states, transitions and the samplers of each transition."""
