"""What those gain who adopt a policy first, and what it costs all others."""
