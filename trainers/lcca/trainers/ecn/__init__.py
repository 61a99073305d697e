"""ACC: Double DQN that tunes how a switch marks (Yan et al., SIGCOMM 2021, as in section VI-C.3 of PRED's paper).

`config` says how, `double_dqn` is the learner, `training` the loop over any environment with one discrete action,
`controllers` and `trials` what it is held against and how. PyTorch and Gymnasium are an extra
(``pip install 'lcca[drl]'``).
"""
