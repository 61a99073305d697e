"""The ns3-gym wire protocol, both ends: our agents drive its simulations, and its agents drive our environments.

`remote.RemoteSimulation` is the agent's end, the Gymnasium environment ``lcca/Ns3Gym-v0``. `served.ServedEnvironment`
is the simulation's end, around any Gymnasium environment. The protocol is that of github.com/tkn-tub/ns3-gym, written
from its facts; see studies/ns3gym/page.md.
"""
