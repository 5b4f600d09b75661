"""The session, and what becomes of responses."""

import time
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from workspace_data_api_client import AuthenticatedClient, Client
from workspace_data_api_client.api.auth import refresh_session, sign_in
from workspace_data_api_client.models import Problem, Refresh, SignIn
from workspace_data_api_client.types import UNSET, Response, Unset

T = TypeVar("T")
R = TypeVar("R", covariant=True)


class Page(Protocol[R]):
    """A page of a list."""

    @property
    def items(self) -> list[R]: ...
    @property
    def next_cursor(self) -> str | None: ...


def parsed(response: T | Problem | None) -> T:
    """The body of a success; a refusal is an error with its code."""
    if isinstance(response, Problem):
        raise SystemExit(f"{response.code}: {response.detail}")
    assert response is not None, "a response that the document does not describe"
    return response


def done(response: Response[object]) -> None:
    """A success without a body."""
    assert response.status_code == 204 and response.parsed is None, response


def refused(response: object) -> str:
    """The code of a refusal."""
    assert isinstance(response, Problem), response
    return response.code


def pages(read: Callable[[str | Unset], Page[T] | Problem | None]) -> Iterator[T]:
    """Every record of a list, page after page."""
    cursor: str | Unset = UNSET
    while True:
        page = parsed(read(cursor))
        yield from page.items
        if page.next_cursor is None:
            return
        cursor = page.next_cursor


def ended(read: Callable[[], T | Problem | None], has_ended: Callable[[T], bool]) -> T:
    """Reads something until it has come to an end."""
    while True:
        found = parsed(read())
        if has_ended(found):
            return found
        time.sleep(0.1)


def signed_in(url: str, email: str, password: str) -> AuthenticatedClient:
    tokens = parsed(sign_in.sync(client=Client(url), body=SignIn(email=email, password=password)))
    body = Refresh(refresh_token=tokens.refresh_token)
    tokens = parsed(refresh_session.sync(client=Client(url), body=body))
    assert tokens.expires_in > 0
    return AuthenticatedClient(url, token=tokens.access_token)
