"""What runs in the process of ns-3 (`lcca.workers.session.Session`); it imports nothing that is loaded before."""

from __future__ import annotations

from typing import Any

SWITCH = "lcca.studies.acc.marking.host:SwitchHost"


class SwitchHost:
    """Trials of a switch's queue whose marking is set interval by interval."""

    _driver: Any = None

    def begin(self, plan: dict[str, Any]) -> None:
        """Set a trial up."""
        from lcca.ns3 import SwitchDriver

        self._driver = None
        self._driver = SwitchDriver(plan)
        self._driver.start()

    def advance(self, min_k: float, max_k: float, max_p: float, interval_us: float) -> Any:
        """Play an interval; return (its length, mean queue, bytes sent, packets marked, µs, over)."""
        return self._driver.advance(min_k, max_k, max_p, interval_us)

    def collect(self) -> dict[str, Any]:
        """Return the record of the trial, which is over."""
        found: dict[str, Any] = self._driver.collect()
        self._driver = None
        return found
