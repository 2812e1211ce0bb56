"""Whether two versions of `bhmc` draw the same: tables, cases, digests, and the comparison."""
