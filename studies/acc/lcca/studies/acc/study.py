"""ACC: Double DQN that tunes ECN marking (Yan et al., SIGCOMM 2021)."""

from lcca.inputs.studies import Command, Environment, FileOfUsers, Study

STUDY = Study(
    commands={
        "acc": Command("learn", "Train ACC (Double DQN that tunes ECN marking) on a fabric, and test it.", "command")
    },
    functions={"acc": "recipe:acc"},
    files={"acc-fabric": FileOfUsers("a training of ACC on a fabric", "lcca acc FILE", "config:FabricAcc")},
    environments={
        "lcca/FabricEcn-v0": Environment("marking.fabric_env:FabricEcnEnv"),
        "lcca/Ns3Ecn-v0": Environment("marking.ns3_env:Ns3EcnEnv"),
    },
    tuners={"acc": "marking.tuner:KIND"},
    learners={"acc": "recipe:LEARNER"},
    moved={"configs/acc": "configs"},
)
