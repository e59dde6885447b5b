"""The prompts that MCP clients offer to people: each names the right tools with their arguments, and how to answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import mcp_types as types
from mcp.shared.exceptions import MCPError

from mcp_server import prompt_texts as texts
from mcp_server import prompt_writers as writers
from mcp_server.prompt_texts import Both, number_of
from mcp_server.prompt_writers import DAYS, WEEKS, Values, Wrong
from mcp_server.quoting import one_line
from mcp_server.registry import ToolContext
from mcp_server.resources import TITLED_SINCE
from mcp_server.tools.moments import today

ARGUMENT_CHARACTERS = 1_000
LANGUAGES = ("ru", "en")


@dataclass(frozen=True, slots=True)
class Argument:
    """`choices` are all values that it may have; without any it is free text."""

    name: str
    title: Both
    description: Both
    required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """`write` makes the text without the rules that every prompt ends with. `feature` and `of_analysis` as a tool's."""

    name: str
    title: Both
    description: Both
    arguments: tuple[Argument, ...]
    write: Callable[[ToolContext, str, Values], str]
    feature: str | None = None
    of_analysis: bool = True

    def is_there(self, context: ToolContext) -> bool:
        return (self.feature is None or self.feature in context.tenant.features) and (
            context.sees_analysis or not self.of_analysis
        )


def list_prompts(context: ToolContext, *, version: str) -> types.ListPromptsResult:
    """Those of the account's features, in the account's language."""
    number = number_of(context.tenant.language)
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=prompt.name,
                title=prompt.title[number] if version >= TITLED_SINCE else None,
                description=prompt.description[number],
                arguments=[
                    types.PromptArgument(
                        name=argument.name,
                        title=argument.title[number] if version >= TITLED_SINCE else None,
                        description=argument.description[number],
                        required=argument.required,
                    )
                    for argument in prompt.arguments
                ],
            )
            for prompt in PROMPTS.values()
            if prompt.is_there(context)
        ]
    )


def get_prompt(context: ToolContext, name: str, arguments: Mapping[str, str] | None) -> types.GetPromptResult:
    """One message of the user. Raises MCPError for a prompt that is not there, and for wrong arguments."""
    prompt = find_prompt(context, name)
    values = _checked(prompt, arguments or {})
    language = values.get("language", context.tenant.language)
    day = today(context)
    head = texts.filled(
        texts.TODAY,
        language,
        today=day.isoformat(),
        weekday=texts.WEEKDAYS[number_of(language)][day.weekday()],
        zone=context.tenant.time_zone,
    )
    try:
        written = prompt.write(context, language, values)
    except Wrong as error:
        raise _invalid(str(error)) from None
    text = "\n\n".join([head, written, texts.RULES[number_of(language)]])
    return types.GetPromptResult(
        description=prompt.description[number_of(language)],
        messages=[types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))],
    )


def find_prompt(context: ToolContext, name: str) -> Prompt:
    """Raises MCPError where the account has none of that name."""
    prompt = PROMPTS.get(name)
    if prompt is None or not prompt.is_there(context):
        raise MCPError(types.INVALID_PARAMS, f"prompt not found: {name[:100]}")
    return prompt


def _checked(prompt: Prompt, arguments: Mapping[str, str]) -> dict[str, str]:
    """Those that are given, each on one line. An empty one counts as none: so forms of clients send it."""
    known = {argument.name: argument for argument in prompt.arguments}
    for name in arguments:
        if name not in known:
            raise _invalid(f"{name[:100]}: {prompt.name} has no such argument; it takes {', '.join(known)}")
    values = {}
    for argument in prompt.arguments:
        given = arguments.get(argument.name) or ""
        if len(given) > ARGUMENT_CHARACTERS:
            raise _invalid(f"{argument.name}: has at most {ARGUMENT_CHARACTERS} characters")
        value = one_line(given, ARGUMENT_CHARACTERS)
        if not value and argument.required:
            raise _invalid(f"{argument.name}: is missing")
        if value and argument.choices and value not in argument.choices:
            raise _invalid(f"{argument.name}: is one of {', '.join(argument.choices)}")
        if value:
            values[argument.name] = value
    return values


def _invalid(message: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, message)


_LANGUAGE = Argument(
    "language",
    ("Language", "Язык"),
    ("Of the answer: ru or en; by default the account's.", "Язык ответа: ru или en; без него — язык аккаунта."),
    choices=LANGUAGES,
)
_PROMPTS = (
    Prompt(
        "prepare_for_call",
        ("Prepare me for a call", "Подготовь меня к звонку"),
        (
            "Who the person is, what was said last, what we promised, and what to ask.",
            "Кто этот человек, о чём говорили, что мы обещали и что спросить.",
        ),
        (
            Argument(
                "person",
                ("Person", "Человек"),
                ("A name, or the id of a person.", "Имя или id человека."),
                required=True,
            ),
            _LANGUAGE,
        ),
        writers.prepare_for_call,
    ),
    Prompt(
        "promises_of_the_week",
        ("What did we promise this week?", "Что мы обещали на этой неделе?"),
        (
            "Promises that are overdue, due this week, or were made this week.",
            "Обещания: просроченные, со сроком на этой неделе и данные на этой неделе.",
        ),
        (_LANGUAGE,),
        writers.promises_of_the_week,
    ),
    Prompt(
        "weekly_quality_report",
        ("Weekly quality report", "Отчёт о качестве за неделю"),
        (
            "Scores, weakest criteria, employees, and conversations to listen to.",
            "Оценки, слабые критерии, сотрудники и разговоры, которые стоит послушать.",
        ),
        (
            Argument(
                "week",
                ("Week", "Неделя"),
                ("last (Monday to Sunday, the default) or this.", "last — прошлая (по умолчанию) или this — эта."),
                choices=WEEKS,
            ),
            _LANGUAGE,
        ),
        writers.weekly_quality_report,
        feature="qc",
    ),
    Prompt(
        "complaint_review",
        ("Review of complaints", "Разбор жалоб"),
        (
            "What clients complained about, what was promised, whom to call back.",
            "На что жаловались клиенты, что им обещали, кому перезвонить.",
        ),
        (
            Argument(
                "days",
                ("Days", "Дней"),
                ("How far back: 7, 30 (the default) or 90.", "За сколько дней: 7, 30 (по умолчанию) или 90."),
                choices=DAYS,
            ),
            _LANGUAGE,
        ),
        writers.complaint_review,
    ),
    Prompt(
        "find_answer",
        ("Find an answer", "Найди ответ"),
        (
            "Answers a question from the knowledge base and conversations, with citations.",
            "Отвечает на вопрос по базе знаний и разговорам, со ссылками.",
        ),
        (
            Argument("question", ("Question", "Вопрос"), ("In your own words.", "Своими словами."), required=True),
            _LANGUAGE,
        ),
        writers.find_answer,
        feature="kb",
        of_analysis=False,
    ),
)
PROMPTS = {prompt.name: prompt for prompt in _PROMPTS}
