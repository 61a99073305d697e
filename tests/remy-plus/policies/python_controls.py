"""Congestion controls in Python: copies of the engine's own, written from their descriptions, and some that fail."""

import json
import math
import random
from pathlib import Path

TABLE = Path(__file__).parent / "table.json"
MET = []


class Aimd:
    """NewReno's window (RFC 6582) without retransmission: the engine's `aimd`."""

    def __init__(self, increase=1.0, decrease=0.5, initial=2.0):
        self.increase, self.decrease, self.window = increase, decrease, initial
        self.threshold, self.recover = 1e6, -1

    def start(self):
        return self.window, 0

    def on_ack(self, ack):
        if ack.lost and ack.sequence > self.recover:
            self.threshold = max(self.window * self.decrease, 2.0)
            self.window = self.threshold
            self.recover = ack.sent
        elif ack.sequence >= self.recover:
            self.window += 1 if self.window < self.threshold else self.increase / self.window
            self.window = min(self.window, 1e6)
        return self.window, 0


class Table:
    """The rule table of a file beside this one, whose pacing is relative."""

    files = ("table.json",)
    content = json.loads(TABLE.read_text()) if TABLE.exists() else {"signals": [], "rules": []}
    signals = tuple(dict.fromkeys([*content["signals"], "receive_ewma"]))
    late = True

    def start(self):
        self.window = 0.0
        return self._act([0.0] * len(self.content["signals"]), 0.0)

    def on_ack(self, ack):
        return self._act([getattr(ack, name) for name in self.content["signals"]], ack.receive_ewma)

    def _act(self, seen, receive_ewma):
        for rule in self.content["rules"]:
            if all(a <= x < b for a, x, b in zip(rule["lower"], seen, rule["upper"], strict=True)):
                window = self.window * rule["multiple"] + rule["increment"]
                least, window = (1, window) if self.content.get("windows") == "real" else (0, int(window))
                self.window = float(min(max(window, least), 1_000_000))
                return self.window, rule["pacing"] * receive_ewma
        raise AssertionError


class FairShare:
    """The engine's `fair-rate`: a share of capacity / flows, which hops tell."""

    signals = ("flows", "capacity")

    def start(self):
        self.gap = 1 / 0.25
        return math.inf, self.gap

    def on_ack(self, ack):
        if ack.capacity > 0:
            self.gap = 1 / 0.97 * (ack.flows / ack.capacity)
        return math.inf, self.gap


class Steady:
    def start(self):
        return 4, 0

    def on_ack(self, ack):
        return 4, 0


class Noted(Steady):
    """Keeps what it is told, where modules that are imported keep what they keep."""

    signals = ("rtt_ratio",)
    told = math.__dict__.setdefault("told_to_noted", [])

    def on_ack(self, ack):
        self.told.append(ack)
        return super().on_ack(ack)


class Raises(Steady):
    def on_ack(self, ack):
        return self.helper(ack), 0

    def helper(self, ack):
        return 1 / (ack.sent - ack.sent)  # raises


class Late(Steady):
    def on_ack(self, ack):
        return 4 if ack.now < 1500 else math.nan, 0


class Nan(Steady):
    def on_ack(self, ack):  # Nan
        return math.nan, 0


class Negative(Steady):
    def on_ack(self, ack):  # Negative
        return -1, 0


class Alone(Steady):
    def on_ack(self, ack):  # Alone
        return 3


class EndlessGap(Steady):
    def start(self):  # EndlessGap
        return 3, math.inf


class Undeclared(Steady):
    def on_ack(self, ack):
        return ack.queue, 0  # Undeclared


class Mistyped(Steady):
    signals = ("rtt_ratio",)

    def on_ack(self, ack):
        return ack.rtt_rato, 0  # Mistyped


class Unknown(Steady):
    signals = ("rtt_rato",)  # Unknown


class OneText(Steady):
    signals = "rtt_ratio"  # OneText


class Dice(Steady):  # Dice
    def on_ack(self, ack):
        return random.randint(1, 9), 0


class Shared(Steady):
    """Remembers beyond its flows, in the class and in the file."""

    seen = 0

    def on_ack(self, ack):
        Shared.seen += 1
        MET.append(ack.now)
        return 2 + Shared.seen % 97 + len(MET) % 7, 0


class NoStart:  # NoStart
    def on_ack(self, ack):
        return 1, 0
