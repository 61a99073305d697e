"""ns3-gym: simulations that speak its protocol, as environments."""

from lcca.inputs.studies import Environment, Study

STUDY = Study(
    environments={"lcca/Ns3Gym-v0": Environment("remote:RemoteSimulation", longest=None)},  # the simulation says
)
