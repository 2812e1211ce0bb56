"""`BHMC`: the scikit-learn estimator, its chains, their files and what a person sees of them."""
