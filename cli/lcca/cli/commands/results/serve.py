"""`lcca serve`: a web page over run folders."""

from __future__ import annotations

import argparse
import logging
import secrets
import socket
from pathlib import Path

from lcca.cli.options.common import print_visible
from lcca.inputs.errors import InputError
from lcca.inputs.extras import require_libraries
from lcca.inputs.options import frozen, option

EXAMPLES = """\
  lcca serve
  lcca serve results/quickstart 127.0.0.1:8080"""

LOCAL = "127.0.0.1"
LAST_PORT = (1 << 16) - 1


@frozen
class Serve:
    folder: Path = option("(default: results)", Path("results"))
    address: str = option(
        "another host than this one's own lets other machines read the runs, by a token in the address; ports are 0 "
        f"(any that is free) to {LAST_PORT} (default: {LOCAL}:8000)",
        f"{LOCAL}:8000",
        metavar="HOST:PORT",
    )


def run(verb: Serve, options: argparse.Namespace) -> int:
    """Run the command: it serves until Ctrl-C."""
    require_libraries({"flask": "flask"}, "pages of runs", "serve")
    from lcca.experiments.reading.admission import LOCALHOST
    from lcca.experiments.reading.server import Server
    from lcca.experiments.reading.serving import application

    host, port = _address(verb.address)
    local = host in (LOCAL, LOCALHOST)
    token = "" if local else secrets.token_urlsafe(16)
    names = {host, LOCALHOST} if local else {host, LOCALHOST, socket.gethostname().lower(), socket.getfqdn().lower()}
    app = application(verb.folder, names, token)
    try:
        bound = socket.create_server((host, port))
    except OSError as error:
        raise InputError(f"{verb.address}: {error.strerror or error}; choose another address") from None
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    with bound:
        address = f"http://{host}:{bound.getsockname()[1]}/{f'?token={token}' if token else ''}"
        print_visible(f"runs in {verb.folder}: {address} (Ctrl-C ends it)", flush=True)
        Server(bound, app).serve_forever()
    return 0


def _address(text: str) -> tuple[str, int]:
    """Return host and port of an address."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit():
        raise InputError(f"{text}: must be an address such as {LOCAL}:8000")
    if len(port) > 5 or int(port) > LAST_PORT:
        raise InputError(f"{text}: no such port; ports are 0 (any that is free) to {LAST_PORT}")
    return host.lower(), int(port)
