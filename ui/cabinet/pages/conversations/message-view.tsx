import { Anchor, Badge, Collapse, Group, Stack, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconThumbDown, IconThumbUp } from "@tabler/icons-react";
import { Link } from "react-router";
import { session } from "../../app/session";
import type { Forms } from "../../i18n/format";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Markdown } from "../../parts/markdown";
import classes from "./conversations.module.css";
import type { Message } from "./kinds";

const texts: Texts<{
  visitor: string;
  agent: string;
  person: string;
  sources: Forms;
  page: (page: number) => string;
  helpful: string;
  unhelpful: string;
  statuses: Record<string, string>;
}> = {
  en: {
    visitor: "Visitor",
    agent: "Agent",
    person: "Person",
    sources: { one: "source", other: "sources" },
    page: (page) => `p. ${page}`,
    helpful: "The visitor found this helpful",
    unhelpful: "The visitor found this not helpful",
    statuses: { answering: "Being answered…", failed: "Not answered: something failed", cancelled: "Stopped" },
  },
  ru: {
    visitor: "Посетитель",
    agent: "Агент",
    person: "Сотрудник",
    sources: { one: "источник", few: "источника", many: "источников", other: "источника" },
    page: (page) => `стр. ${page}`,
    helpful: "Посетитель отметил: помогло",
    unhelpful: "Посетитель отметил: не помогло",
    statuses: { answering: "Готовится ответ…", failed: "Без ответа: произошёл сбой", cancelled: "Остановлено" },
  },
};

interface Source {
  citation: number;
  kind: string;
  title: string;
  url: string | null;
  page: number | null;
  snippet: string;
}

/** One message: whose it is, its words, its sources, and what the visitor thought of it. */
export function MessageView({ message }: { message: Message }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { role, feedback } = message;
  const who = role === "visitor" ? t.visitor : role === "agent" ? t.agent : (message.author ?? t.person);
  const status = role === "visitor" ? t.statuses[message.status] : undefined;
  return (
    <article className={`${classes.message} ${classes[role]}`}>
      <Text size="xs" c="var(--soft)" mb={2}>
        {who} · {format.time(message.at)}
      </Text>
      {role === "agent" ? (
        <Markdown>{message.text}</Markdown>
      ) : (
        <Text size="sm" className={classes.words ?? ""}>
          {message.text}
        </Text>
      )}
      {status && (
        <Text size="xs" c="var(--soft)" mt={4}>
          {status}
        </Text>
      )}
      <Sources sources={message.citations as unknown as Source[]} />
      {feedback && (
        <Badge
          mt={6}
          variant="light"
          color={feedback === "up" ? "green" : "red"}
          leftSection={
            feedback === "up" ? <IconThumbUp size={12} aria-hidden /> : <IconThumbDown size={12} aria-hidden />
          }
          tt="none"
        >
          {feedback === "up" ? t.helpful : t.unhelpful}
        </Badge>
      )}
      {message.comment && (
        <Text size="sm" mt={4} fs="italic" className={classes.words ?? ""}>
          “{message.comment}”
        </Text>
      )}
    </article>
  );
}

function Sources({ sources }: { sources: Source[] }) {
  const t = useTexts(texts);
  const format = useFormat();
  const [opened, { toggle }] = useDisclosure();
  if (!sources.length) return null;
  return (
    <>
      <UnstyledButton onClick={toggle} aria-expanded={opened} mt={6} fz="xs" c="var(--soft)">
        <Group gap={2}>
          {format.count(sources.length, t.sources)} <IconChevronDown size={14} aria-hidden />
        </Group>
      </UnstyledButton>
      <Collapse expanded={opened}>
        <Stack gap="xs" mt={4}>
          {sources.map((source) => (
            <SourceView key={source.citation} source={source} />
          ))}
        </Stack>
      </Collapse>
    </>
  );
}

function SourceView({ source }: { source: Source }) {
  const t = useTexts(texts);
  const title = `[${source.citation}] ${source.title}${source.page === null ? "" : `, ${t.page(source.page)}`}`;
  const path = pathOf(source.url);
  return (
    <div>
      {path ? (
        <Anchor component={Link} to={path} size="sm">
          {title}
        </Anchor>
      ) : (
        <Text size="sm">{title}</Text>
      )}
      <Text size="xs" c="var(--soft)" lineClamp={3}>
        {source.snippet}
      </Text>
    </div>
  );
}

/** The place in the cabinet that an address of it leads to; null for any other. */
function pathOf(url: string | null): string | null {
  const cabinet = `${session.urls.public}/cabinet/`;
  return url?.startsWith(cabinet) ? url.slice(cabinet.length - 1) : null;
}
