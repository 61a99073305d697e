"""The R+ search: learns a rule table for a signal set, a network space and a utility."""
