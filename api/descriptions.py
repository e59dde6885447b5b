"""The prose of the OpenAPI descriptions: what a layer is, what each operation does, what an error's status means.

Keyed by the operation's id; a test holds that every operation has its text and every text its operation.
"""

from __future__ import annotations

TITLES = {
    "speech": "Parley Speech API",
    "public": "Parley Public API",
    "integration": "Parley Integration API",
    "vision": "Parley Vision API",
}

_KEY = (
    "Send your API key (`sk_live_…`) as `Authorization: Bearer <key>`{either}. A paused client may read and top up; "
    "everything else answers 403 `client_inactive`."
)
_COMMON = """
## Errors
{body} A 5xx says no more than the id of the request, which every answer carries in `X-Request-Id`. An answer with
status 429 or 503 says in `Retry-After` when to come again.

## Repeating a request safely
A POST that makes something or costs money takes an `Idempotency-Key` header: 1 to 255 printable characters that you
choose, one for each thing to be done. The first answer that tells of something done is kept for a day and given again,
with `Idempotency-Replayed: true`, to every repetition. The same key with another body is refused with 422
`idempotency_key_reused`; while the first request is still in work, a repetition gets 409 `idempotency_in_progress`.
"""
_SHARED_BODY = (
    'The body is `{"error": {"message", "type", "param", "code"}}`: `code` is for programs, `param` names the '
    "field that was wrong."
)
_INTEGRATION_BODY = (
    'The body is `{"error": {"code", "message", "details"}}`: `code` is for programs; `details.field` names the '
    "field of a `validation_error`, `details.email` the address of an `email_taken`."
)

INTRODUCTIONS = {
    "speech": (
        "Recordings in, text with timestamps out. Upload a file, or say where it is, and poll the task or wait for its "
        "webhook.\n\n## Authentication\n" + _KEY.format(either="") + "\n" + _COMMON.format(body=_SHARED_BODY)
    ),
    "public": (
        "Everything around a company's communications: their timelines and analysis, the people in them, chats over "
        "the knowledge base, money, webhooks and settings.\n\n## Authentication\n"
        + _KEY.format(either=" or as `x-api-key: <key>`")
        + "\n"
        + _COMMON.format(body=_SHARED_BODY)
    ),
    "vision": (
        "Cameras in, events out. Register an RTSP camera (H.264) and say what to look for: `traffic`, `ppe`, `safety`, "
        "`lpr` or `barcode`. What is seen is an event, once for each thing, in the list and by webhook.\n\n"
        "## Authentication\nSend your API key (`sk_live_…`) as `Authorization: Bearer <key>`. The account needs the "
        "Vision module, else 403 `feature_disabled`. A paused client may read.\n" + _COMMON.format(body=_SHARED_BODY)
    ),
    "integration": (
        "For partners that connect clients of their own: make a client, give it keys, pause it and take it up again. "
        "The client then uses the Speech and Public APIs with its own key.\n\n## Authentication\n"
        "Send your integration secret (`int_live_…`) as `Authorization: Bearer <secret>`, from an address that is on "
        "the integration's allowlist. The secret never goes to a client.\n" + _COMMON.format(body=_INTEGRATION_BODY)
    ),
}

# By the module that the operation lives in.
TAGS = {
    "speech": "Transcription",
    "speech_tasks": "Transcription",
    "communications": "Communications",
    "imports": "Communications",
    "media": "Communications",
    "media_uploads": "Communications",
    "speakers": "Speakers",
    "chat": "Chats",
    "chats": "Chats",
    "conversations": "Chats",
    "knowledge": "Knowledge base",
    "documents": "Knowledge base",
    "evaluations": "Knowledge base",
    "search": "Search",
    "balance": "Balance",
    "payments": "Payments",
    "sessions": "Cabinet",
    "deliveries": "Webhooks",
    "account": "Account",
    "tool_calls": "Account",
    "quality": "Account",
    "integration": "Clients",
    "vision": "Streams",
    "vision_events": "Events and analytics",
}

STATUSES = {
    200: "Success",
    201: "Made",
    202: "Accepted: the work goes on after the answer",
    204: "Done",
    206: "The part that was asked for",
    304: "Unchanged since the given ETag",
    400: "The parameters or the body are invalid",
    401: "The key is missing, malformed, unknown or revoked",
    402: "All that the plan has is in use",
    403: "The client is paused, or lacks the feature",
    404: "There is no such thing, or it is another account's",
    408: "The request came too slowly",
    409: "It conflicts with the present state",
    413: "The body is too large",
    416: "Nothing of the range is in the file",
    422: "Understood, and it cannot be done",
    429: "Too many requests",
    500: "Something went wrong on our side",
    502: "Something that the request needs failed",
    503: "Not configured, or too busy",
}
INTEGRATION_STATUSES = {
    401: "The secret is missing or wrong (`unauthorized`)",
    403: "The address is not on the allowlist, or the integration is disabled (`ip_not_allowed`)",
    404: "No client with this external id (`client_not_found`)",
    409: "The client is inactive (`client_inactive`), or the first request of this Idempotency-Key is still in work",
    422: (
        "The body is invalid (`validation_error`), the e-mail is another account's (`email_taken`), or the "
        "Idempotency-Key was used for another request"
    ),
}

OPERATIONS = {
    "transcribe": (
        "Sends a recording as `multipart/form-data` (field `file`), or names where it is with a JSON body (`fileUrl`), "
        "from where it is fetched after the answer. Answers 202 with the ids of the task and of the communication. "
        "With `mode=sync`, a file of at most 25 MB and 10 minutes and no `summary`, it answers 200 with the "
        "transcription itself, and the ids in `X-Task-Id` and `X-Communication-Id`. When too many wait: 429 "
        "`sync_backpressure`."
    ),
    "read_task": (
        "Poll until `transcription_status` is `success` or `error`. Send the last answer's ETag as `If-None-Match`: "
        "304 says that nothing changed."
    ),
    "cancel_task": (
        "Ends a task that has not ended: its status is then `error` with the message `cancelled`, and what was not "
        "done costs nothing. One that has ended stays as it is. The answer is the task as it is now."
    ),
    "import_communication": (
        "Takes in a conversation whose text is known: a chat, a mail thread, or a call that was recognised elsewhere, "
        "as JSON; or the export of a chat or a mail box as `multipart/form-data`, which holds many. Analysis follows "
        "as it does for recordings, at the same rates. The same content under the same record id again is the "
        "communication that is there, and costs nothing."
    ),
    "search": (
        "Finds the best passages of documents, conversations and memory in one order, by meaning and by words. `kinds` "
        "left out are all that the account has; `space_ids` bound documents, and conversations and memory have no "
        "space. What several documents say in the same words is one item, with the number of the others in "
        "`duplicates`. `neighbours` joins so many passages before and after to each one of a document."
    ),
    "upload_media": (
        "Takes a file of a message that is posted afterwards and names it by the `ref` of this answer. One that no "
        "message names is deleted after a day."
    ),
    "read_media": (
        "The recording of a call, by the `recording.ref` of its communication, or the file of a message, by its "
        "`media[].ref`. A player may ask for a part with `Range`; of several ranges at once the answer is the whole "
        "file. `HEAD` gives the headers alone."
    ),
    "read_communication": (
        "One communication by `id`, or the newest with a `request_record_id`: its timeline, its analysis as far as it "
        "has run, and who took part. With both given, both must match."
    ),
    "list_communications": (
        "The communications of one person, newest first. Give at least one of the three; all that are given must match."
    ),
    "delete_speaker": (
        "Deletes a person's profile, what is remembered of them, and their voice. What they said stays with its "
        "communications, without their name."
    ),
    "read_speaker_profile": "A person with what is remembered of them. Give at least one of the two.",
    "list_chats": "The account's active chats, with the public key that a site's widget uses.",
    "read_chat": "A chat with all that is set for it.",
    "create_chat": (
        "Makes a chat with a public key of its own. What is left out is as a new chat has it: the server's model, all "
        "tools for the company's own people, documents alone for visitors of a site. An account has at most 100 chats."
    ),
    "update_chat": (
        "Changes what is named; what is left out stays. `model` is `none`, the server's own or one of those that its "
        "operator offers, and null for the server's own. Where a default chat is switched off, the oldest active one "
        "takes its place."
    ),
    "delete_chat": (
        "Ends a chat: its messages and its widget are answered 404 from then on. Its conversations stay. Where it was "
        "the default one, the oldest active chat takes its place."
    ),
    "rotate_chat_key": (
        "Gives a chat another public key. The old one opens nothing any more: put the new one into the site's snippet."
    ),
    "list_conversations": (
        "The conversations of the site's widget, those with the last message first. `wants_person` leaves those whose "
        "visitor waits for a person or has one, or with `false` those that the agent has."
    ),
    "read_conversation": (
        "A conversation of the widget with its messages: what became of each, the answers' sources and the visitor's "
        "thumbs. Its id is the communication's."
    ),
    "take_conversation_over": (
        "From here on a person answers and the agent keeps still. The visitor sees `operator_name`. Answers in work "
        "stop, and nothing is charged for them."
    ),
    "release_conversation": "The agent answers again.",
    "answer_conversation": "A person's message to the visitor of a conversation that was taken over.",
    "list_refusals": "What the widget of a chat refused: pages that are not the chat's, too many calls, captchas.",
    "send_message": (
        "Asks a chat one question and gets one answer, with the sources that it rests on. The caller keeps the "
        "history. With `Accept: text/event-stream` the answer comes as it is written: events `status`, `text`, then "
        "`done` or `error`. Aborting the request cancels the answer, and it costs nothing. With an `Idempotency-Key` "
        "a streamed answer goes on for 30 seconds instead: the same request joins it after its `Last-Event-ID`."
    ),
    "read_balance": "What the account has, and what is held for work that has not ended.",
    "read_history": "Top-ups and charges, newest first. `from` and `to` are both inclusive.",
    "create_payment_link": (
        "A link to the payment page, good for about 15 minutes. The receipt goes to `customer_email`, else to the "
        "account's own address; with neither there is none."
    ),
    "read_payment_link": "Poll until `status` is no longer `pending`.",
    "create_session_link": ("A link that opens the cabinet once, within about a minute. The account needs an e-mail."),
    "list_spaces": "The knowledge base's spaces.",
    "create_space": "A new, empty space.",
    "read_space": "One space.",
    "update_space": "Changes what is given.",
    "delete_space": "Deletes a space with all its documents.",
    "list_documents": "The documents of a space, newest first.",
    "add_document": (
        "Adds a document: a file as `multipart/form-data`, a text or a link as JSON. The same bytes in the same space "
        "are the document that is there. Poll it, or wait for `kb.completed` or `kb.failed`."
    ),
    "read_document": "One document, and how far its indexing has come.",
    "delete_document": "Deletes a document from the base and from the index.",
    "reindex_document": "Reads and indexes a document anew.",
    "list_chunks": "The pieces that a document was cut into, in their order.",
    "read_file": (
        "The bytes of a document as they came in, to be kept as a file. A link that was not fetched yet has none: 404."
    ),
    "list_questions": "Questions that a space's retrieval is judged by, oldest first, each with what it should find.",
    "create_question": (
        "Keeps a question with the passage that answers it: a document, and in it a quotation or a chunk. With neither "
        "of the two any passage of the document will do."
    ),
    "update_question": "Changes what is given.",
    "delete_question": "Deletes a question. What earlier evaluations said of it stays.",
    "begin_evaluation": (
        "Asks the space's search all questions, as a job: 202 with the evaluation, which ends with hit rates, MRR and "
        "nDCG. Begin one before a change and one after it."
    ),
    "list_evaluations": "The evaluations of a space, newest first.",
    "read_evaluation": "An evaluation, each question with the rank of what it found, beside the evaluation before it.",
    "list_deliveries": "The webhooks that were or will be sent, newest first, with how each attempt went.",
    "resend": "Sends an event again, under the same event id.",
    "test_webhook": "Sends a signed test event to a URL and says how the receiver answered.",
    "read_settings": "What the account has set for itself.",
    "update_settings": (
        "Changes what is named. A new `webhook_url` is first tried with a signed test request; an empty one turns "
        "notifications off."
    ),
    "list_keys": "The account's API keys, without their texts.",
    "create_key": "A new API key. Its text is in this answer and nowhere else.",
    "delete_key": "Ends a key at once. The account's last key stays: nobody could make another.",
    "read_qc_scenarios": "All scenarios in the account's order, with their criteria, and the company's names.",
    "replace_qc_scenarios": (
        "Replaces the whole: order, names, descriptions, and what is switched on. A scenario that is left out is "
        "disabled and goes to the end. What is read may be sent back as it is."
    ),
    "list_audit": "Who did what in the account, newest first.",
    "list_tool_calls": (
        "Which tools agents and chats called, newest first: with which arguments, for how long, and how much they got. "
        "What looks like a key, a password or the number of a card is masked before a call is kept. `from` and `to` "
        "are both inclusive. Calls are kept for 90 days, unless the server's settings or the account's `retention` say "
        "otherwise."
    ),
    "put_client": (
        "Makes the client of an `external_id`, or updates the one that is there. A creation answers 201 with the "
        "client's API key, which is shown this once; an update answers 200, with a key only where `rotate_key` made "
        "one."
    ),
    "read_client": "A client's state, balance and tariff. The key itself is never shown again.",
    "rotate_client_key": "Ends the client's key at once and answers with a new one, shown this once.",
    "deactivate_client": "Pauses a client: it keeps its keys, may read and top up, and is refused paid work.",
    "reactivate_client": "Takes a paused client up again, with a new key; the earlier one ends.",
    "list_streams": "The account's cameras, oldest first.",
    "create_stream": (
        "Registers a camera and begins to watch it. The address's form is checked at once: 400 `invalid_rtsp`. That "
        "the camera is there and sends H.264 shows while connecting: until then `status` is `connecting`, and where it "
        "is not so, `error`, with a `message`. All cameras of the plan in use: 402 `stream_limit_exceeded`."
    ),
    "read_stream": (
        "How it goes with a camera: `connecting`, `online`, `reconnecting` (it was lost and is tried again), `offline` "
        "(lost for half a minute), `error` (trying again soon mends nothing)."
    ),
    "update_stream": (
        "Changes what is named: the address, the scenarios, and the zones (polygons in relative coordinates: "
        "restricted, queue or entrance). Watching begins anew."
    ),
    "delete_stream": "Ends the watching and forgets the address. Events stay as long as events are kept.",
    "list_events": "What was seen, newest first: one event for each thing, however long it is in the picture.",
    "read_traffic": "Visitors and queues by the hour or day of UTC. A visitor who comes again on a day is known again.",
    "read_heatmap": (
        "How long people stood where, in person-seconds by cell of the picture; as a picture to be laid over the "
        "camera's with `Accept: image/png`."
    ),
}
