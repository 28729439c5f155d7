"""Does a log of a running system follow a spec? Sets of states, led by events.

`events` and `logs` read logs, `order` says which of several processes' events may come next,
`steps` runs the spec and remembers what it did, `follow` goes through the log (by levels in
`follower`, depth first in `deep`; `followed` is where it led), `fits` compares what was logged with
what a step does, `parting` says why no step fits, and `coverage` what logs showed. Takes a Model;
no engine enters.
"""
