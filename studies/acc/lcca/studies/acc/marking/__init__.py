"""How ports of switches mark: what agents see and set, their network, and the environments that they learn in."""
