"""The policy values of the memory family that configuration may change."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """How long short-lived notes are kept, and how links fade.

    `ephemeral_days` is after how many days an ephemeral memory without an expiry of its own is archived. A synapse that
    nobody touched for `decay_days` loses by its rate once per as many days. Below `prune_floor` decay removes automatic
    synapses and stops for all others.
    """

    ephemeral_days: float = 14.0
    decay_days: float = 7.0
    prune_floor: float = 0.1
