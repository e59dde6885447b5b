import { Badge, Group, Text } from "@mantine/core";
import { Link } from "react-router";
import type { Forms } from "../../i18n/format";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { plainText } from "../../parts/markdown";
import classes from "./conversations.module.css";
import { type ListedConversation, stateOf } from "./kinds";

const texts: Texts<{
  visitor: string;
  waits: string;
  has: (name: string) => string;
  messages: Forms;
  you: string;
  agent: string;
}> = {
  en: {
    visitor: "Visitor",
    waits: "Waits",
    has: (name) => `With ${name}`,
    messages: { one: "message", other: "messages" },
    you: "Person: ",
    agent: "Agent: ",
  },
  ru: {
    visitor: "Посетитель",
    waits: "Ждёт",
    has: (name) => `Отвечает ${name}`,
    messages: { one: "сообщение", few: "сообщения", many: "сообщений", other: "сообщения" },
    you: "Сотрудник: ",
    agent: "Агент: ",
  },
};

/** One conversation of the list; all of it leads there. */
export function ConversationRow({ row }: { row: ListedConversation }) {
  const t = useTexts(texts);
  const format = useFormat();
  const state = stateOf(row);
  const who = row.contact?.name || row.contact?.email || row.contact?.phone || t.visitor;
  const said = row.last_message;
  const before = said?.role === "operator" ? t.you : said?.role === "agent" ? t.agent : "";
  return (
    <Link to={`/conversations/${row.id}`} className={classes.row}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text fw={600} truncate>
          {who}
        </Text>
        <Group gap="xs" wrap="nowrap" flex="none">
          {state === "waiting" && (
            <Badge color="red" variant="light">
              {t.waits}
            </Badge>
          )}
          {state === "taken" && (
            <Badge color="blue" variant="light" maw={180}>
              {t.has(row.operator_name ?? "")}
            </Badge>
          )}
          <Text size="sm" c="dimmed">
            {format.ago(row.last_message_at)}
          </Text>
        </Group>
      </Group>
      <Text size="sm" c="dimmed" lineClamp={2}>
        {said
          ? `${before}${said.role === "visitor" ? said.text : plainText(said.text)}`
          : format.count(row.message_count, t.messages)}
      </Text>
    </Link>
  );
}
