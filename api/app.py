"""Assembly of the server: every layer's routes over one set of services, opened and closed with the process."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import structlog
from anyio import CapacityLimiter
from prometheus_client import REGISTRY
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

from accounts import ledger, links, webhooks
from accounts.keys import Keyring
from accounts.payments import Payments
from api import (
    account,
    analyses,
    balance,
    cabinet,
    call_sound,
    chat,
    chats,
    checkout,
    commitments,
    communication_search,
    communications,
    conversations,
    corrections,
    deliveries,
    docs_search,
    documents,
    evaluations,
    exports,
    guide,
    home,
    imports,
    integration,
    knowledge,
    mcp,
    media,
    media_uploads,
    openapi,
    operations,
    operators,
    payments,
    people,
    privacy,
    quality,
    quality_preview,
    saved_views,
    search,
    site,
    speakers,
    speech,
    tool_calls,
    tools,
    trial,
    vision,
    vision_events,
    widget,
    widget_preview,
)
from api.errors import INTEGRATION_PATH, error_response
from api.hosts import Hosts, bases_of
from api.http import route
from api.idempotency import forget_old_keys
from api.limits import forget_old_windows
from api.middleware import Places, RequestLog
from api.multipart import STORED_AT_ONCE
from api.operations import StateCollector
from api.services import Services
from api.widget_access import WidgetCors, forget_refusals
from chat.agent import Agent
from chat.answers import Answers
from chat.ended import analyse_ended
from ingest import (
    account_deletion,
    account_export,
    analysis_job,
    calls,
    freed_memory,
    import_media,
    reindex,
    retention,
    timelines,
    trials,
)
from ingest import evaluations as evaluating
from ingest.documents import document_job
from ingest.maintenance import Maintenance
from ingest.retention import ToolCallSweep
from ingest.vision.retention import CameraSweep
from ingest.vision.supervisor import CameraSupervisor
from ingest.workshop import Workshop, open_workshop
from mcp_server.call_log import CallLog
from mcp_server.endpoint import McpEndpoint
from mcp_server.tools import make_registry
from store.backups import clear_scratch
from store.errors import InvalidRequest, MethodNotAllowed, NotFound, ParleyError
from store.settings import Settings
from store.statistics import Statistics

log = structlog.get_logger(__name__)

PUBLIC_PREFIX = "/public"
LAYERS = {
    "speech": ("", speech.OPERATIONS),
    "public": (
        PUBLIC_PREFIX,
        (
            *communications.OPERATIONS,
            *communication_search.OPERATIONS,
            *corrections.OPERATIONS,
            *analyses.OPERATIONS,
            *call_sound.OPERATIONS,
            *exports.OPERATIONS,
            *saved_views.OPERATIONS,
            *imports.OPERATIONS,
            *media.OPERATIONS,
            *media_uploads.OPERATIONS,
            *speakers.OPERATIONS,
            *people.OPERATIONS,
            *commitments.OPERATIONS,
            *chat.OPERATIONS,
            *chats.OPERATIONS,
            *conversations.OPERATIONS,
            *balance.OPERATIONS,
            *payments.OPERATIONS,
            *cabinet.OPERATIONS,
            *knowledge.OPERATIONS,
            *documents.OPERATIONS,
            *evaluations.OPERATIONS,
            *deliveries.OPERATIONS,
            *account.OPERATIONS,
            *privacy.OPERATIONS,
            *operators.OPERATIONS,
            *quality.OPERATIONS,
            *quality_preview.OPERATIONS,
            *search.OPERATIONS,
            *tool_calls.OPERATIONS,
            *tools.OPERATIONS,
        ),
    ),
    "integration": (INTEGRATION_PATH, integration.OPERATIONS),
    "vision": ("/vision", (*vision.OPERATIONS, *vision_events.OPERATIONS)),
}


def _settle() -> None:
    """Takes what is there by now, the modules above all, out of the garbage collector's sight. A full collection would
    else go through it each time, and stop every request of the process for 0.2 s."""
    gc.collect()
    gc.freeze()


def create_app(settings: Settings, opened: Workshop | None = None, *, answers: bool = True) -> Starlette:
    """The ASGI application over a workshop that is open, or that it opens when its lifespan begins. Without `answers`
    it only tells how it is."""
    registry = make_registry()
    endpoint = McpEndpoint(registry, mcp.admit, mcp.one_read)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        house: Workshop = opened if opened is not None else await run_in_threadpool(open_workshop, settings)
        calls_made = CallLog(house.database)
        agent = Agent(house, registry, calls_made)
        keyring = Keyring.of(settings)
        takings = Payments(settings, house.database, keyring)
        answering = Answers()
        cameras = CameraSupervisor(settings, house.database)
        services = Services(settings, keyring, house, registry, agent, answering, takings, calls_made, cameras)
        app.state.services = services
        app.state.sync_places = speech.SyncPlaces(settings.sync_places)
        # Uploads that wait to be looked at keep no thread from the other endpoints.
        app.state.probing = CapacityLimiter(2 * house.pools.probing.places)
        app.state.storing = CapacityLimiter(STORED_AT_ONCE)
        collector = StateCollector(services)
        REGISTRY.register(collector)
        try:
            statistics = Statistics(house.database)
            await run_in_threadpool(statistics.sweep)
            _add_sweeps(services, statistics)
            webhooks.open_sender(settings, house.database, services.keyring, house.jobs)
            await run_in_threadpool(house.jobs.launch)
            await run_in_threadpool(reindex.sweep)
            if "vision" in house.jobs.takes:
                cameras.start()
            async with endpoint.running():
                _settle()
                yield
        finally:
            REGISTRY.unregister(collector)
            await run_in_threadpool(cameras.close)
            await answering.aclose()
            await agent.aclose()
            await run_in_threadpool(calls_made.close)
            await run_in_threadpool(house.close)

    app = Starlette(
        routes=[*operations.ROUTES, *(_routes(endpoint) if answers else ())],
        lifespan=lifespan,
        exception_handlers={
            ParleyError: _answer_error,
            HTTPException: _answer_http_exception,
            ClientDisconnect: _answer_nobody,
        },
    )
    app.router.redirect_slashes = False
    # The last is the outermost.
    app.add_middleware(Places, places=settings.max_requests)
    app.add_middleware(WidgetCors)
    app.add_middleware(Hosts, bases=bases_of(settings))
    app.add_middleware(RequestLog)
    return app


def _routes(endpoint: McpEndpoint) -> list[BaseRoute]:
    """Of everything that is answered, in the order in which they are tried."""
    return [
        *home.ROUTES,
        *site.routes(),
        *docs_search.routes(LAYERS),
        *guide.ROUTES,
        *trial.ROUTES,
        *widget.ROUTES,
        *vision_events.ROUTES,
        *payments.ROUTES,
        *checkout.ROUTES,
        *widget_preview.ROUTES,
        *cabinet.ROUTES,
        *openapi.routes(LAYERS),
        *(route(operation, prefix) for prefix, operations_ in LAYERS.values() for operation in operations_),
        Route("/mcp", endpoint),
    ]


def _add_sweeps(services: Services, statistics: Statistics) -> None:
    """The housekeeping. Every process looks which index serves, and after its own disk and memory; what is kept for all
    is done by one of those that work."""
    settings, house = services.settings, services.workshop
    everywhere: tuple[Callable[[], object], ...] = (
        reindex.sweep,
        house.blobs.sweep_uploads,
        partial(clear_scratch, settings.data_dir),
        freed_memory.give_back,
    )
    where_work_is_done: tuple[Callable[[], object], ...] = (
        statistics.sweep,
        Maintenance().sweep,
        calls.sweep_ended,
        document_job.sweep_ended,
        import_media.sweep_folders,
    )
    of_all: tuple[Callable[[], object], ...] = (
        calls.CallSweep().sweep,
        analysis_job.sweep,
        analyse_ended,
        document_job.DocumentSweep().sweep,
        evaluating.EvaluationSweep().sweep,
        timelines.sweep,
        retention.sweep,
        trials.sweep,
        account_export.sweep,
        account_deletion.sweep,
        CameraSweep().sweep,
        ToolCallSweep(settings, house.database).sweep,
        import_media.sweep,
        webhooks.sweep,
        partial(ledger.release_expired, house.database),
        webhooks.purge,
        partial(forget_old_windows, house.database),
        partial(account.forget_old_audit, house.database),
        partial(forget_refusals, house.database, settings.widget_abuse_days),
        services.payments.sweep,
        partial(links.forget_ended, house.database),
        partial(forget_old_keys, house.database, settings.idempotency_hours),
    )
    works = bool(house.jobs.takes)
    for sweep in (*everywhere, *(where_work_is_done if works else ())):
        house.jobs.add_sweep(sweep)
    for sweep in of_all if works else ():
        house.jobs.add_sweep(sweep, of_all=True)


async def _answer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ParleyError)
    if error.status >= 500:
        log.warning(
            "answered with an error", status=error.status, error=str(error), cause=type(error.__cause__).__name__
        )
    return error_response(error, request.scope["path"])


async def _answer_http_exception(request: Request, error: Exception) -> Response:
    """Starlette's own refusals in the documented body."""
    assert isinstance(error, HTTPException)
    path: str = request.scope["path"]
    if error.status_code == 405:
        response = error_response(MethodNotAllowed(f"{request.method} is not allowed here."), path)
        # Several routes may share the path; the one that refused knows only its own methods.
        fitting = [each for each in request.app.routes if each.matches(request.scope)[0] is not Match.NONE]
        methods = {method for each in fitting for method in getattr(each, "methods", None) or ()}
        response.headers["Allow"] = ", ".join(sorted(methods))
        return response
    if error.status_code == 404:
        return error_response(NotFound("There is nothing at this address."), path)
    return error_response(InvalidRequest(str(error.detail)), path)


async def _answer_nobody(_request: Request, _error: Exception) -> Response:
    return Response(status_code=499)
