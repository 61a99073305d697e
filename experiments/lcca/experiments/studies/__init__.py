"""Questions about congestion controls, markers and tuners on scenarios, each with its verdict: `lcca study`."""
