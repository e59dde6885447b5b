"""Pages of lists: limit and offset in, what the page is out of in the answer."""

from __future__ import annotations

from pydantic import BaseModel

from api.fields import PageLimit, PageOffset
from api.http import Query


class PageQuery(Query):
    limit: PageLimit = 20
    offset: PageOffset = 0


class Page(BaseModel):
    """`count` is the number of items of this page."""

    limit: int
    offset: int
    count: int


class Pagination(Page):
    """With `total`, the number of all that match."""

    total: int


def pagination(query: PageQuery, count: int, total: int) -> Pagination:
    return Pagination(limit=query.limit, offset=query.offset, count=count, total=total)
