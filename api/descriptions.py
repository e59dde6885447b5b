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
    "tools": "Tools of agents",
    "speech": "Transcription",
    "speech_tasks": "Transcription",
    "communications": "Communications",
    "communication_search": "Communications",
    "corrections": "Communications",
    "analyses": "Communications",
    "call_sound": "Communications",
    "exports": "Communications",
    "saved_views": "Communications",
    "imports": "Communications",
    "media": "Communications",
    "media_uploads": "Communications",
    "speakers": "Speakers",
    "people": "Speakers",
    "commitments": "Promises",
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
    "privacy": "Account",
    "operators": "Account",
    "tool_calls": "Account",
    "quality": "Account",
    "quality_preview": "Account",
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
    "search_communications": (
        "Looks through all communications: newest first, or the best matches of `query`, by words and by meaning, with "
        "the passage that fits. All filters that are given must hold: missed calls, for one, are "
        "`kind=call&direction=in&answered=false`, and `signal=churn_risk` are those in which a client may leave. Go on "
        "with `next_cursor` until it is null; with a query after at most 500."
    ),
    "correct_item": (
        "Puts another text in the place of what recognition or an import left, or gives an item to another speaker. "
        "What was there before is kept in the history, and searches find the new text. What analysis found stays as it "
        "is until it is ordered again."
    ),
    "correct_speaker": (
        "Says whose voice a label is. Who has another label in the communication already gets the items of this one "
        "too, for then one voice was taken for two."
    ),
    "list_corrections": "What people changed in a communication: by whom, when, and what was there before.",
    "analyse_again": (
        "Orders summary, quality control and memory of a communication anew, after corrections say, at the same price "
        "as the first time. While it is recognised or analysed: 409 `in_work`."
    ),
    "list_learned": "What is remembered of people from this communication, with its quotations.",
    "delete_communication": (
        "Deletes a communication with all that belongs to it: text, recording, files, analysis, corrections, what was "
        "learned of people from it. Work on it is called off, and what was not done costs nothing."
    ),
    "read_waveform": "The loudness of a call's recording, for a player. It is made when first asked for, and kept.",
    "list_words": (
        "When each word of a recording was said, of recordings that were sent with `timestamp_detail=word`; else the "
        "list is empty."
    ),
    "export_communication": (
        "A communication as a file: `txt` and `pdf` for people, with summary, promises, facts and quality control, and "
        "headings in `language`; `srt`, subtitles of a recording; `json`, as `GET /v1/communications` answers."
    ),
    "list_views": "Named sets of filters of the list of communications, for everybody of the account.",
    "save_view": "Keeps filters under a name. An account has at most 100; a name that is taken is 409 `name_taken`.",
    "delete_view": "Deletes a saved view. What it showed stays.",
    "list_communications": (
        "The communications of one person, newest first. Give at least one of the three; all that are given must match."
    ),
    "delete_speaker": (
        "Deletes a person's profile with the profiles that were merged into it, what is remembered of them, and their "
        "voice. What they said stays with its communications, without their name: it is taken out of titles and "
        "summaries too."
    ),
    "preview_qc_scenarios": (
        "Judges one conversation by the scenarios given, as they would be saved, by the built-in engine. Nothing is "
        "stored and nothing is charged. At most 30 a minute and account."
    ),
    "read_person": (
        "A person by id, with contacts, open promises, whether their voice is known, and the profiles that were merged "
        "into theirs. The id of such a profile gives the one it was merged into, whose `id` differs from the one asked "
        "for."
    ),
    "list_person_memory": (
        "What is remembered of a person, newest first, each fact with the conversation and the words that it comes "
        "from. The id of a profile that was merged into another one is 404 here."
    ),
    "change_person": (
        "Renames a person, or changes their role or department. A new role is also that of those conversations in "
        "which their role was unknown."
    ),
    "delete_person_voice": (
        "Deletes the voice by which a person is recognised, and what it was learned from. Profile and memory stay."
    ),
    "merge_person": (
        "Makes two profiles of one person one: conversations, memory, promises, voice and figures of `speaker_id` "
        "belong to the person of the path then. Whoever is given by the merged external id or name later is that "
        "person. It cannot be undone."
    ),
    "list_commitments": (
        "Promises made in conversations by their deadline, with their quotation. `state`: `open` (default), `overdue`, "
        "`today`, `week` (the seven days from today), `later`, `no_date` or `done`. `speaker_id`: made by or to this "
        "person; `maker_id`: made by them; `side`: `ours` or, made by a client, `theirs`; `query`: words that it holds."
    ),
    "mark_commitment": (
        "Marks a promise as kept (`done: true`) or takes the mark away. Who did it and when is kept. A mark stays when "
        "the conversation is analysed again and the same promise is found."
    ),
    "read_speaker_profile": "A person with what is remembered of them. Give at least one of the two.",
    "list_chats": "The account's active chats, with the public key that a site's widget uses.",
    "read_chat": "A chat with all that is set for it.",
    "create_chat": (
        "Makes a chat with a public key of its own. What is left out is as a new chat has it: the server's model, all "
        "tools for the company's own people, documents alone for visitors of a site. An account has at most 100 chats."
    ),
    "list_all_chats": "All chats with all of their settings, those that are switched off too, oldest first.",
    "list_chat_models": (
        "What `model` of a chat may be: null, whose name is the server's own model, `none`, and what the operator "
        "offers beside."
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
        "visitor waits for a person or has one, or with `false` those that the agent has; `state` tells these three "
        "apart."
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
    "list_judged_answers": (
        "The answers that visitors of a chat's site voted for (`up`) or against (`down`), or that found nothing in the "
        "sources (`unanswered`), newest first, each with its question: what the documents should say better."
    ),
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
    "list_documents": "The documents of a space, newest first; `status` and `title` leave those that fit.",
    "add_document": (
        "Adds a document: a file as `multipart/form-data`, a text or a link as JSON. The same bytes in the same space "
        "are the document that is there. Poll it, or wait for `kb.completed` or `kb.failed`."
    ),
    "read_document": "One document, and how far its indexing has come.",
    "delete_document": "Deletes a document from the base and from the index.",
    "reindex_document": "Reads and indexes a document anew.",
    "list_chunks": (
        "The pieces that a document was cut into, in their order. With `chunk_id` it is the page around that one, as "
        "a citation leads there; 404 where the document as it is now has it no longer."
    ),
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
    "create_export": (
        "Begins an archive (zip) of everything that the account has: communications with their content and analysis, "
        "people and memory, knowledge, chats, cameras, settings and the ledger as lines of JSON, recordings, documents "
        "and snapshots as files. One is made at a time: while there is one in work, it is the answer."
    ),
    "list_exports": "The exports of the last day.",
    "read_export": "How far an export is. Its archive is kept for a day.",
    "read_export_file": "The archive, whole or in part.",
    "delete_export": "Deletes an export and its archive, also while it is being made.",
    "delete_account": (
        "Closes the account at once and for good: no key, session or widget of it works any more, its jobs and cameras "
        "stop, and everything that it has is deleted from database, index and files within minutes. There is no way "
        "back; take an export before. `confirmation` has to be the account's name."
    ),
    "update_settings": (
        "Changes what is named. A new `webhook_url` is first tried with a signed test request; an empty one turns "
        "notifications off."
    ),
    "list_operators": "The people who work in the account's cabinet, the first one first, with what each may do.",
    "invite_operator": (
        "Adds a person and mails them a link into the cabinet, which works once and lives a week; afterwards they sign "
        "in by a link to the same e-mail. A `viewer` reads, an `operator` works with communications, people, "
        "knowledge, chats and cameras, an `owner` may do everything. Where the mail server does not take the letter "
        "nobody is added: 502 `mail_failed`."
    ),
    "update_operator": (
        "Changes what is named; another role is in force at once. The last owner stays one: 409 `last_owner`."
    ),
    "delete_operator": (
        "Removes a person, and ends their sessions and invitations at once. The last owner stays: 409 `last_owner`."
    ),
    "invite_again": "Mails the link into the cabinet once more. Links of before work until their time is over.",
    "read_spending": (
        "What was charged for each product on each day, in the account's time zone. Days without charges are not there."
    ),
    "read_tariff": "What a unit of each kind of work costs this account.",
    "list_keys": "The account's API keys, without their texts.",
    "create_key": "A new API key. Its text is in this answer and nowhere else.",
    "delete_key": "Ends a key at once. The account's last key stays: nobody could make another.",
    "read_qc_scenarios": (
        "All scenarios in the account's order, with their criteria, and the company's names. With `defaults=true` they "
        "are as before the account changed anything: together the scenarios have every criterion that there is."
    ),
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
    "read_stream_snapshot": (
        "What the camera shows: a JPEG of at most 960 pixels in width, a few seconds old while the camera is `online`. "
        "`Last-Modified` says when it was taken. 404 `no_picture` where there is none of the last 24 hours."
    ),
    "delete_stream": "Ends the watching and forgets the address. Events stay as long as events are kept.",
    "list_events": "What was seen, newest first: one event for each thing, however long it is in the picture.",
    "read_traffic": "Visitors and queues by the hour or day of UTC. A visitor who comes again on a day is known again.",
    "read_heatmap": (
        "How long people stood where, in person-seconds by cell of the picture; as a picture to be laid over the "
        "camera's with `Accept: image/png`."
    ),
}
