"""Commands on datacenter fabrics: their options, runs and tables."""
