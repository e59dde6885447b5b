"""Every setting of Parley, read once from `PARLEY_*` environment variables or a `.env` file.

`docs/settings.md` lists them all; a test keeps it so.
"""

from __future__ import annotations

import os
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

CommaSeparated = Annotated[tuple[str, ...], NoDecode]

Work = Literal["speech", "documents", "analysis", "vision", "errands"]
"""What there is to do beside answering: recognising calls, reading documents, analysing conversations, watching
cameras, and all else, as webhooks, fetching and exports."""
WORK: tuple[Work, ...] = get_args(Work)
_MIB = 1024 * 1024
LONGEST_LEASE_S = 300.0


def _default_cache_dir() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "parley"


class Settings(BaseSettings):
    """Typed settings. Sizes are bytes, times seconds, unless the name says otherwise."""

    model_config = SettingsConfigDict(env_prefix="PARLEY_", env_file=".env", extra="ignore", frozen=True)

    data_dir: Path = Field(Path("./data"), description="Database, index, blobs and job state live here.")
    database_url: str = Field("", description="Empty: SQLite in the data dir. Or `postgresql+psycopg://...`.")
    database_direct_url: str = Field(
        "",
        description="PostgreSQL itself, where `PARLEY_DATABASE_URL` is the address of a pooler before it that gives "
        "connections for a transaction each (PgBouncer). Empty: there is none.",
    )
    jobs_database_url: str = Field(
        "", description="Where durable jobs keep their state. Empty: beside the database (SQLite file or PostgreSQL)."
    )
    database_pool: int = Field(
        20,
        ge=2,
        description="Most connections to PostgreSQL that a process has at once, and as many for its cameras; half of "
        "them stay open.",
    )
    jobs_database_pool: int = Field(20, ge=4, description="The same for the state of its durable jobs.")
    qdrant_url: str = Field(
        "", description="Empty: the embedded index in the data dir. Or the URL of a Qdrant server, 1.19 or newer."
    )
    qdrant_api_key: SecretStr = Field(SecretStr(""), description="API key of the Qdrant server.")
    qdrant_shards: int = Field(
        0, ge=0, le=1000, description="Parts of a new index on a cluster of Qdrant. 0: as many as it thinks right."
    )
    qdrant_replicas: int = Field(
        1, ge=1, le=10, description="Nodes of a cluster that hold each part of a new index: 2 bear the loss of one."
    )
    qdrant_quantized: bool = Field(
        False,
        description="A new index keeps its vectors on disk and a byte for each number in memory, a quarter of it; "
        "the best found are compared whole.",
    )
    blob_url: str = Field("", description="Empty: a folder in the data dir. Or `s3://bucket/prefix`.")
    models_dir: Path | None = Field(
        None, description="A folder with model files that are used before anything is fetched."
    )
    cache_dir: Path = Field(
        default_factory=_default_cache_dir, description="Fetched model files, shared by all installations of a user."
    )

    public_url: str = Field("", description="What links point to. Empty: http://127.0.0.1:PORT.")
    host: str = Field("127.0.0.1", description="Address that `parley serve` listens on.")
    port: int = Field(8080, ge=0, le=65535, description="Port that `parley serve` listens on.")
    trusted_proxies: CommaSeparated = Field((), description="Networks whose forwarded address counts, comma-separated.")
    secret_key: SecretStr = Field(
        SecretStr(""),
        description="Pepper of keys and signer of tokens: a long text, or `base64:` and the content of a "
        "`secret.key`. Empty: made once and kept in that file of the data dir.",
    )

    speech_host: str = Field("", description="A host name that serves the Speech API alone, at its root.")
    public_host: str = Field("", description="A host name that serves the Public API alone, at its root.")
    integration_host: str = Field("", description="A host name that serves the Integration API alone, at its root.")
    mcp_host: str = Field("", description="A host name that serves MCP alone, at its root.")
    vision_host: str = Field("", description="A host name that serves the Vision API alone, at its root.")
    head_timeout_s: float = Field(10.0, gt=0, description="Longest a connection may take to send a request's head.")
    body_min_bytes_per_s: float = Field(
        256.0,
        ge=0,
        description="A body that comes slower than this, measured over 10 s, ends its connection. 0: no bound.",
    )
    max_connections: int = Field(8192, ge=1, description="More connections at once are closed with a 503.")
    max_requests: int = Field(512, ge=1, description="More requests in work at once are answered 503.")
    idempotency_hours: float = Field(24.0, gt=0, description="How long the answer to an Idempotency-Key is kept.")

    signup_credit: Decimal = Field(
        Decimal(0), ge=0, le=1_000_000, decimal_places=6, description="RUB that a new client starts with."
    )
    allowed_networks: CommaSeparated = Field(
        (),
        description="Networks besides public ones that fileUrl, webhook_url and document links may reach, "
        "comma-separated.",
    )
    camera_networks: CommaSeparated = Field(
        (),
        description="Networks besides public and private ones where rtsp_url may point, comma-separated.",
    )
    camera_places: int = Field(0, ge=0, description="Camera streams that one process watches. 0: eight for each core.")
    camera_fps: float = Field(10.0, gt=0, le=60, description="Pictures a second of a stream that are looked at.")
    camera_lease_s: float = Field(
        15.0, gt=1, le=LONGEST_LEASE_S, description="Silence after which a worker's camera streams are taken over."
    )
    vision_models: CommaSeparated = Field(
        (),
        description="Own detectors: `objects=PATH`, and so for poses, plates, ppe, fire, people (re-identification) "
        "and ru_plates, comma-separated; an ONNX file, an OpenVINO folder, or a name of `parley models list`. "
        "Empty: the best that are installed.",
    )
    vision_engine: Literal["parley", "ultralytics"] = Field(
        "parley",
        description="What runs the detectors of cameras: Parley's own, or `ultralytics` (AGPL-3.0, to be installed as "
        "an extra).",
    )
    detector_threads: int = Field(0, ge=0, description="Threads of the detector. 0: the machine's cores.")
    webhook_retry_schedule: Annotated[tuple[Annotated[float, Field(gt=0)], ...], NoDecode] = Field(
        (15, 60, 300, 900, 3600, 14400), description="Seconds between the tries of a webhook, comma-separated."
    )
    webhook_timeout_s: float = Field(15.0, gt=0, description="Longest a webhook's receiver may take to answer.")
    webhook_places: int = Field(32, ge=1, description="Webhooks being sent at the same time in one process.")
    webhook_places_per_receiver: int = Field(
        4, ge=1, description="Of these, to one address of one account. An account gets half of them."
    )
    payment_provider: Literal["none", "sandbox", "yookassa"] = Field("none", description="Who takes payments.")
    payment_lifetime_s: float = Field(900.0, gt=0, description="How long a payment link lives.")
    yookassa_shop_id: str = Field("", description="The shop's id at YooKassa.")
    yookassa_secret_key: SecretStr = Field(SecretStr(""), description="The shop's secret key at YooKassa.")
    yookassa_api_url: str = Field("https://api.yookassa.ru/v3", description="Base URL of YooKassa's API.")
    yookassa_vat_code: int = Field(1, ge=1, le=12, description="VAT code of receipts, as YooKassa numbers them.")
    session_links: bool = Field(True, description="Whether one-time links into the cabinet are issued.")
    session_links_per_minute: int = Field(60, ge=1, description="Links into the cabinet a minute and key.")
    session_link_lifetime_s: float = Field(60.0, gt=0, description="How long a link into the cabinet lives.")
    cabinet_session_s: float = Field(12 * 3600.0, gt=0, description="How long a session of the cabinet lasts.")
    cabinet_url: str = Field("", description="Where the cabinet is reached. Empty: PUBLIC_URL/cabinet.")
    sign_in_link_lifetime_s: float = Field(900.0, gt=0, description="How long an e-mailed sign-in link lives.")
    sign_in_links_per_address: int = Field(5, ge=1, description="Sign-in links an hour to one e-mail address.")
    sign_in_links_per_client: int = Field(30, ge=1, description="Sign-in links an hour that one IP address asks for.")
    invitation_lifetime_s: float = Field(7 * 86_400.0, gt=0, description="How long an invitation's link lives.")
    smtp_host: str = Field(
        "",
        description="The mail server that sends sign-in links and invitations. Empty: links are written into the "
        "server's log, for trying Parley out, and nowhere where `PARLEY_PUBLIC_URL` is not of this machine alone.",
    )
    smtp_port: int = Field(0, ge=0, le=65535, description="Its port. 0: 587, and 465 with `tls`.")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls", description="`starttls` and `tls` check the server's certificate; `none` is for a local relay."
    )
    smtp_user: str = Field("", description="Who signs in at the mail server. Empty: nobody.")
    smtp_password: SecretStr = Field(SecretStr(""), description="Its password.")
    smtp_timeout_s: float = Field(15.0, gt=0, description="Longest the mail server may take for one step.")
    mail_from: str = Field(
        "", description="Sender of mails, as `Parley <parley@example.com>`. Empty: parley@ the mail server's name."
    )

    llm_model: str = Field(
        "", description="`local`, `none`, or a model as litellm names it. Empty: local where its file is installed."
    )
    llm_api_base: str = Field("", description="Base URL of an OpenAI-compatible server.")
    llm_api_key: SecretStr = Field(SecretStr(""), description="Key for the model provider.")
    llm_timeout_s: float = Field(120.0, gt=0, description="Longest a model may take for one answer.")
    llm_max_prompt_tokens: int = Field(
        0, ge=0, description="Bound of a prompt. 0: 1,400 for the local model, 12,000 for a provider."
    )
    llm_idle_s: float = Field(600.0, gt=0, description="The local model's process is let go after this long unused.")
    llm_threads: int = Field(0, ge=0, description="Threads of the local model. 0: the machine's cores.")
    chat_requests_per_minute: int = Field(60, ge=1, description="Chat messages a minute and key.")
    mcp_requests_per_minute: int = Field(120, ge=1, description="MCP requests a minute and key.")
    tool_calls_days: int = Field(90, ge=1, le=36_500, description="How many days the log of tool calls is kept.")
    tool_calls_max: int = Field(
        500_000, ge=1, description="Of an account's tool calls this many are kept, the newest ones."
    )
    widget_requests_per_minute: int = Field(60, ge=1, description="Widget calls a minute and visitor.")
    chat_quiet_s: float = Field(1800.0, gt=0, description="A chat is closed when nobody has written for this long.")
    chat_models: CommaSeparated = Field(
        (),
        description="Models beside PARLEY_LLM_MODEL that a chat may be set to, as litellm names them, comma-separated.",
    )
    widget_quiet_s: float = Field(
        600.0,
        gt=0,
        description="A visitor of the widget has gone when nobody has written for this long: the "
        "conversation is analysed then.",
    )
    widget_abuse_days: int = Field(30, ge=1, le=36_500, description="How many days what the widget refused is kept.")
    captcha_verify_url: str = Field(
        "",
        description="Where a captcha's token is verified (the form of Turnstile, hCaptcha and reCAPTCHA). Empty: "
        "visitors of the widget are asked for none.",
    )
    captcha_secret: SecretStr = Field(SecretStr(""), description="The captcha provider's secret.")
    captcha_site_key: str = Field("", description="The captcha provider's public key, for the page with the widget.")
    site_widget_key: str = Field(
        "", description="Public key of the chat on the page at `/`. Empty: the demo account's, where there is one."
    )
    trial: bool = Field(True, description="Whether visitors of the page at `/` may try a recording of their own.")
    trial_places: int = Field(20, ge=1, description="Trials are refused for a while when so many wait or are in work.")
    delete_paused_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="An account that was paused for so many days is deleted with everything it has; its owners are "
        "told a week before. 0: never.",
    )

    embedding_model: str = Field(
        "",
        description="A model of `parley models list`, of sentence-transformers (its hub's name or a folder), or of a "
        "provider, as litellm names it: `openai/...`, `cohere/...`, `ollama/...`. Empty: best available.",
    )
    embedding_api_base: str = Field("", description="Base URL of the embedding provider. Empty: the provider's own.")
    embedding_api_key: SecretStr = Field(SecretStr(""), description="Key for the embedding provider.")
    reranker_model: str = Field(
        "",
        description="A cross-encoder that puts the passages of a search in order: a model of `parley models list`, a "
        "name on the hub, a folder, or `none`. Empty: one of the list where it is installed.",
    )
    reranker_timeout_s: float = Field(
        2.0, gt=0, description="Longest a search waits for the reranker; later its own order stands."
    )
    asr_engine: Literal["", "faster-whisper", "whisper-timestamped"] = Field(
        "", description="Speech engine. Empty: best available."
    )
    asr_model: str = Field("", description="A model of `parley models list`, or a folder. Empty: best available.")
    asr_device: Literal["", "cpu", "cuda"] = Field(
        "",
        description="Where speech is recognised: `cpu`, or `cuda` (a GPU of NVIDIA; a worker that has none then leaves "
        "calls to those that do). Empty: on a GPU where there is one.",
    )
    asr_threads: int = Field(0, ge=0, description="Threads of the speech engine. 0: the machine's cores.")
    child_memory_bytes: int = Field(
        4096 * _MIB, ge=0, description="Address space of a child that looks at uploads or reads documents. 0: no limit."
    )
    child_timeout_s: float = Field(
        3600.0,
        gt=0,
        le=1_000_000,
        description="Longest one piece of work in a child process may take, without the time in which its main thread "
        "was ready and had no core.",
    )

    max_audio_bytes: int = Field(1024 * _MIB, ge=1, description="Largest audio upload.")
    max_document_bytes: int = Field(100 * _MIB, ge=1, description="Largest document upload.")
    max_import_bytes: int = Field(32 * _MIB, ge=1, description="Largest conversation that is imported as JSON.")
    max_json_bytes: int = Field(1 * _MIB, ge=1, description="Largest JSON body.")
    sync_max_bytes: int = Field(25 * _MIB, ge=0, description="A larger sync request goes async.")
    sync_max_seconds: float = Field(600.0, ge=0, description="A sync request with longer audio goes async.")
    sync_places: int = Field(2, ge=0, description="Sync transcriptions at the same time in one process.")
    max_queued_calls: int = Field(10_000, ge=1, description="Uploads are refused while more calls wait than this.")
    call_places: int = Field(
        8, ge=1, description="Calls in work at the same time in one process; its speech engine hears one at a time."
    )
    call_places_per_client: int = Field(2, ge=1, description="Of these, for one client.")
    fetch_places: int = Field(
        8, ge=1, description="Recordings fetched at the same time in one process; one client gets half of them."
    )
    fetch_timeout_s: float = Field(1800.0, gt=0, description="Longest that fetching one fileUrl may take.")
    ocr_max_pages: int = Field(500, ge=0, description="Scanned pages of a document whose text is recognised.")
    document_places: int = Field(2, ge=1, description="Documents read at the same time in one process.")

    analysis_places: int = Field(
        4, ge=1, description="Analyses in work at the same time; one client gets half of them."
    )
    analysis_min_words: int = Field(5, ge=0, description="A conversation of fewer words is not analysed.")
    analysis_retry_schedule: Annotated[tuple[Annotated[float, Field(gt=0)], ...], NoDecode] = Field(
        (15, 60, 300, 900), description="Seconds between the tries of an analysis whose model fails, comma-separated."
    )
    analysis_outage_schedule: Annotated[tuple[Annotated[float, Field(gt=0)], ...], NoDecode] = Field(
        (1800, 3600, 7200, 10800, 14400, 21600, 25200),
        description="Seconds between its further tries where the model's provider is not reached, too busy or broken, "
        "comma-separated.",
    )

    job_poll_s: float = Field(0.2, gt=0, description="How often queues look for work.")
    worker_takes: Annotated[tuple[Work, ...], NoDecode] = Field(
        (),
        description="What `parley serve --role worker` works on: of speech, documents, analysis, vision and errands "
        "(webhooks, fetching, exports), comma-separated. Empty: all that this machine has the models for.",
    )
    heartbeat_s: float = Field(5.0, gt=0, description="How often a worker says that it lives.")
    takeover_after_s: float = Field(15.0, gt=0, description="Silence after which a worker's jobs are taken over.")
    sweep_s: float = Field(10.0, gt=0, description="How often rows without a started job are looked for.")
    executor_id: str = Field("", description="Stable name of this worker. Empty: made from the host and the data dir.")
    shutdown_grace_s: float = Field(10.0, ge=0, description="How long requests may finish when the server stops.")

    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least severe line logged.")
    log_format: Literal["", "json", "console"] = Field("", description="Empty: console on a terminal, else JSON.")

    @field_validator(
        "trusted_proxies",
        "allowed_networks",
        "camera_networks",
        "vision_models",
        "chat_models",
        "worker_takes",
        "webhook_retry_schedule",
        "analysis_retry_schedule",
        "analysis_outage_schedule",
        mode="before",
    )
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @cached_property
    def effective_database_url(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir.absolute() / 'parley.sqlite3'}"

    @cached_property
    def effective_public_url(self) -> str:
        return (self.public_url or f"http://127.0.0.1:{self.port}").rstrip("/")

    @cached_property
    def is_at_home(self) -> bool:
        """Whether its links are for people at this machine alone."""
        name = urlsplit(self.effective_public_url).hostname or ""
        return name in ("localhost", "::1") or name.startswith("127.")

    @cached_property
    def effective_cabinet_url(self) -> str:
        return (self.cabinet_url or f"{self.effective_public_url}/cabinet").rstrip("/")


def load_settings(**overrides: object) -> Settings:
    """Reads the settings. Raises pydantic.ValidationError naming each variable that is wrong."""
    return Settings(**overrides)  # type: ignore[arg-type]
