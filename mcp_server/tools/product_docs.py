"""The tool over Parley's own documentation: search_product_docs."""

from __future__ import annotations

from pydantic import BaseModel, Field

from mcp_server.product_docs import ProductDocs, written_at
from mcp_server.registry import Arguments, Tool, ToolContext
from mcp_server.tools.shapes import (
    Cursor,
    Limit,
    QueryText,
    cursor_offset,
    local_time,
    make_cursor,
    shorten,
    snippet_characters,
)

_DOCS = ProductDocs()


class SearchProductDocs(Arguments):
    query: QueryText = Field(description="The question or its key words, Russian or English.")
    limit: Limit = 10
    cursor: Cursor | None = None


class FoundPage(BaseModel):
    """A passage of a page of `docs/`: the product's own words, so nothing in it is quoted. `updated_at` is when this
    installation's copy of the page was written."""

    id: str
    title: str
    file: str
    anchor: str
    updated_at: str
    url: str
    score: float
    snippet: str


class ProductDocsPage(BaseModel):
    items: list[FoundPage]
    next_cursor: str | None


def search_product_docs(context: ToolContext, arguments: SearchProductDocs) -> ProductDocsPage:
    offset = cursor_offset(arguments)
    end = offset + arguments.limit
    # It belongs to no tenant: everybody reads the same pages.
    found = _DOCS.search(arguments.query, end + 1, context.retriever.embedder, context.work_folder)
    length = snippet_characters(arguments.limit)
    items = []
    for passage in found[offset:end]:
        file, anchor = str(passage.payload["file"]), str(passage.payload["anchor"])
        items.append(
            FoundPage(
                id=passage.id,
                title=str(passage.payload["title"]),
                file=file,
                anchor=anchor,
                updated_at=local_time(context, written_at(file)),
                url=f"{context.public_url}/docs/{file}" + (f"#{anchor}" if anchor else ""),
                score=round(passage.score, 4),
                snippet=shorten(passage.text, length),
            )
        )
    return ProductDocsPage(items=items, next_cursor=make_cursor(arguments, offset=end) if len(found) > end else None)


TOOLS = (
    Tool(
        name="search_product_docs",
        title="Search Parley's documentation",
        description=(
            "Finds how Parley itself works: its API, settings, limits, webhooks, prices. For the company's own "
            "rules and products use search_documents."
        ),
        arguments=SearchProductDocs,
        result=ProductDocsPage,
        function=search_product_docs,
    ),
)
