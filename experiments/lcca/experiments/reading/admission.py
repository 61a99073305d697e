"""Whom the pages of runs answer, and what these pages may do in a browser."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, abort, g, redirect, request

LOCALHOST = "localhost"

_REPORT = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
)
_PAGE = (
    "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}


def admit(app: Flask, names: Collection[str], token: str) -> None:
    """Let an application answer those alone who may ask, and its pages run no script but their own.

    Args:
        app: the application; its `report` is a page of somebody else's, and shut off from all others.
        names: by which browsers may call it, beside any number (IP address). Another one is answered by status 400, so
            that a page from elsewhere cannot read runs by a name that it makes point here.
        token: what the first address that a browser opens must have as `token`; a cookie remembers it. Without one
            everybody may read who reaches the server.
    """

    @app.before_request
    def guard() -> Any:
        g.nonce = secrets.token_urlsafe(16)
        if not _is_known(request.headers.get("Host", ""), names):
            abort(400, "This server has no such name; open the address that lcca serve printed.")
        cookie = f"lcca-{request.environ.get('SERVER_PORT')}"
        if not token or _same(request.cookies.get(cookie, ""), token):
            return None
        if not _same(request.args.get("token", ""), token):
            abort(403, "The token is missing; open the address that lcca serve printed.")
        answer = redirect("/")
        answer.set_cookie(cookie, token, httponly=True, samesite="Lax")  # Strict would end links between reports
        return answer

    @app.after_request
    def protected(answer: Response) -> Response:
        foreign = request.endpoint == "report" and answer.status_code == 200
        answer.headers.update(_HEADERS | {"Content-Security-Policy": _REPORT if foreign else _PAGE.format(g.nonce)})
        return answer


def _is_known(host: str, names: Collection[str]) -> bool:
    """Tell whether the header `Host` holds a number or one of these names; only names can be made point elsewhere."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name in names or bool(ip_address(name))
    except ValueError:
        return False


def _same(tried: str, token: str) -> bool:
    return hmac.compare_digest(tried.encode(errors="replace"), token.encode())
