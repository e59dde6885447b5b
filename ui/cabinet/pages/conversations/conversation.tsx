import { Anchor, Badge, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link, useParams } from "react-router";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Back } from "../../parts/back";
import { Page } from "../../parts/page";
import { Loaded } from "../../parts/states";
import { Composer } from "./composer";
import classes from "./conversations.module.css";
import { type Conversation, POLL_MS, stateOf } from "./kinds";
import { MessageView } from "./message-view";

const texts: Texts<{
  back: string;
  visitor: string;
  began: (when: string) => string;
  waits: (since: string) => string;
  has: (name: string) => string;
  agent: string;
  analysis: string;
  messages: string;
}> = {
  en: {
    back: "Site conversations",
    visitor: "Visitor",
    began: (when) => `Began ${when}`,
    waits: (since) => `Waits for a person since ${since}`,
    has: (name) => `${name} answers`,
    agent: "The agent answers",
    analysis: "Its analysis",
    messages: "Messages",
  },
  ru: {
    back: "Диалоги с сайта",
    visitor: "Посетитель",
    began: (when) => `Начат ${when}`,
    waits: (since) => `Ждёт человека с ${since}`,
    has: (name) => `Отвечает ${name}`,
    agent: "Отвечает агент",
    analysis: "Разбор",
    messages: "Сообщения",
  },
};

export default function ConversationPage() {
  const { id = "" } = useParams();
  const t = useTexts(texts);
  const conversation = useQuery({
    queryKey: ["conversation", id],
    queryFn: () =>
      read(api.GET("/public/v1/conversations/{conversation_id}", { params: { path: { conversation_id: id } } })),
    refetchInterval: POLL_MS,
  });
  if (conversation.data) return <ConversationView key={id} conversation={conversation.data} />;
  return (
    <Page title={t.visitor} above={<Back to="/conversations">{t.back}</Back>}>
      <Loaded query={conversation}>{() => null}</Loaded>
    </Page>
  );
}

function ConversationView({ conversation }: { conversation: Conversation }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { contact, messages } = conversation;
  const state = stateOf(conversation);
  const end = useRef<HTMLDivElement>(null);
  const count = messages.length;
  const before = useRef(0);
  // To what is new, unless somebody is reading further up.
  useEffect(() => {
    const isBelow = window.innerHeight + window.scrollY > document.body.scrollHeight - 400;
    if (count > before.current && (before.current === 0 || isBelow)) end.current?.scrollIntoView({ block: "end" });
    before.current = count;
  }, [count]);
  return (
    <Page
      title={contact?.name || contact?.email || contact?.phone || t.visitor}
      above={<Back to="/conversations">{t.back}</Back>}
      lead={
        <Group gap="xs" component="span">
          <Badge
            component="span"
            variant="light"
            color={state === "waiting" ? "red" : state === "taken" ? "blue" : "gray"}
          >
            {state === "waiting"
              ? t.waits(format.time(conversation.person_requested_at ?? ""))
              : state === "taken"
                ? t.has(conversation.operator_name ?? "")
                : t.agent}
          </Badge>
          <Text span size="sm">
            {t.began(format.moment(conversation.created_at))}
          </Text>
          <Anchor component={Link} to={`/communications/${conversation.id}`} size="sm">
            {t.analysis}
          </Anchor>
        </Group>
      }
    >
      <Contact contact={contact} />
      <section className={classes.thread} aria-label={t.messages} aria-live="polite">
        {messages.map((message) => (
          <MessageView key={message.id} message={message} />
        ))}
      </section>
      {mayAct("operator") && <Composer conversation={conversation} />}
      <div ref={end} />
    </Page>
  );
}

/** What the visitor left; addresses lead to the mail and the phone. */
function Contact({ contact }: { contact: Conversation["contact"] }) {
  if (!contact || !Object.keys(contact).length) return null;
  return (
    <Stack gap={2}>
      {contact.email && (
        <Anchor href={`mailto:${encodeURIComponent(contact.email)}`} size="sm" w="fit-content">
          {contact.email}
        </Anchor>
      )}
      {contact.phone && (
        <Anchor href={`tel:${contact.phone.replace(/[^+\d]/g, "")}`} size="sm" w="fit-content">
          {contact.phone}
        </Anchor>
      )}
    </Stack>
  );
}
