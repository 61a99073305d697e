"""`lcca serve`: a web page over run folders."""

from __future__ import annotations

import argparse
import logging
import socket
from pathlib import Path

from lcca.cli.options.common import print_visible
from lcca.inputs.errors import InputError
from lcca.inputs.extras import require_libraries

EXAMPLES = """\
  lcca serve
  lcca serve results/quickstart 127.0.0.1:8080"""

LOCAL = "127.0.0.1"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("folder", type=Path, nargs="?", default=Path("results"), help="(default: results)")
    address = "another host than this one's own lets other machines read the runs (default: %(default)s)"
    parser.add_argument("address", nargs="?", default=f"{LOCAL}:8000", metavar="HOST:PORT", help=address)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: it serves until Ctrl-C."""
    require_libraries({"flask": "flask"}, "pages of runs", "serve")
    from werkzeug.serving import make_server

    from lcca.experiments.reading.serving import application

    host, _, port = options.address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) >= 1 << 16:
        raise InputError(f"{options.address}: must be an address such as {LOCAL}:8000")
    app = application(options.folder, [host, "localhost"] if host in (LOCAL, "localhost") else None)
    try:
        bound = socket.create_server((host, int(port)))
    except OSError as error:
        raise InputError(f"{options.address}: {error.strerror or error}; choose another address") from None
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    with bound:
        print_visible(f"runs in {options.folder}: http://{host}:{bound.getsockname()[1]}/ (Ctrl-C ends it)", flush=True)
        make_server(host, int(port), app, threaded=True, fd=bound.fileno()).serve_forever()
    return 0
