"""ACC: Double DQN that tunes how a switch marks (Yan et al., SIGCOMM 2021, as in section VI-C.3 of PRED's paper).

`config` says how, `double_dqn` is the learner, `training` the loop over episodes, `ports` an episode of many agents
with one network. PyTorch and Gymnasium are an extra (``pip install 'lcca[drl]'``).
"""
