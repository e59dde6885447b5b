import { Badge, Group, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { IconMessages } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { api, read } from "../../api/client";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import { ConversationRow } from "./conversation-row";
import { POLL_MS, type State } from "./kinds";

const LIMIT = 25;
const WAITING = 50;

const texts: Texts<{
  title: string;
  lead: string;
  waiting: string;
  which: string;
  all: string;
  taken: string;
  agent: string;
  chat: string;
  anyChat: string;
  none: string;
  noneText: string;
  nothing: string;
}> = {
  en: {
    title: "Site conversations",
    lead: "What visitors of your site ask the widget. New messages appear here by themselves.",
    waiting: "Waiting for a person",
    which: "Which conversations",
    all: "All",
    taken: "With a person",
    agent: "With the agent",
    chat: "Chat",
    anyChat: "Any chat",
    none: "No conversations yet",
    noneText: "Put a chat's widget onto your site; what visitors ask will stand here.",
    nothing: "There is none of this kind",
  },
  ru: {
    title: "Диалоги с сайта",
    lead: "О чём посетители сайта спрашивают виджет. Новые сообщения появляются сами.",
    waiting: "Ждут человека",
    which: "Какие диалоги",
    all: "Все",
    taken: "С человеком",
    agent: "С агентом",
    chat: "Чат",
    anyChat: "Любой чат",
    none: "Диалогов пока нет",
    noneText: "Поставьте виджет чата на сайт, и вопросы посетителей появятся здесь.",
    nothing: "Таких диалогов нет",
  },
};

export default function ConversationsPage() {
  const t = useTexts(texts);
  const format = useFormat();
  const waiting = useQuery({
    queryKey: ["conversations", "waiting"],
    queryFn: () =>
      read(api.GET("/public/v1/conversations", { params: { query: { state: "waiting", limit: WAITING } } })),
    refetchInterval: POLL_MS,
  });
  const count = waiting.data?.pagination.total ?? 0;
  const title = count ? `(${count}) ${t.title}` : t.title;
  // After the page has set its own.
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  return (
    <Page title={t.title} lead={t.lead}>
      {count > 0 && (
        <Card
          title={
            <Group gap="xs">
              {t.waiting} <Badge color="red">{format.number(count)}</Badge>
            </Group>
          }
        >
          <div aria-live="polite">
            {waiting.data?.items.map((row) => (
              <ConversationRow key={row.id} row={row} />
            ))}
          </div>
        </Card>
      )}
      <All />
    </Page>
  );
}

function All() {
  const t = useTexts(texts);
  const [search, setSearch] = useSearchParams();
  const [offset, setOffset] = useState(0);
  const state = search.get("state");
  const chatId = search.get("chat");
  const chats = useQuery({ queryKey: ["chats"], queryFn: () => read(api.GET("/public/v1/chats")) });
  const found = useQuery({
    queryKey: ["conversations", state, chatId, offset],
    queryFn: () => {
      const query = {
        limit: LIMIT,
        offset,
        ...(state === "taken" || state === "agent" ? { state: state as State } : {}),
        ...(chatId ? { chat_id: chatId } : {}),
      };
      return read(api.GET("/public/v1/conversations", { params: { query } }));
    },
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
  const choose = (name: string, value: string | null) => {
    setOffset(0);
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value) next.set(name, value);
        else next.delete(name);
        return next;
      },
      { replace: true },
    );
  };
  const isFiltered = state !== null || chatId !== null;
  return (
    <Card>
      <Stack gap="md">
        <Group justify="space-between" gap="sm">
          <SegmentedControl
            size="xs"
            aria-label={t.which}
            value={state ?? "all"}
            onChange={(value) => choose("state", value === "all" ? null : value)}
            data={(["all", "taken", "agent"] as const).map((value) => ({ value, label: t[value] }))}
          />
          {(chats.data?.items.length ?? 0) > 1 && (
            <Select
              size="xs"
              aria-label={t.chat}
              placeholder={t.anyChat}
              clearable
              clearButtonProps={{ "aria-label": t.anyChat }}
              data={(chats.data?.items ?? []).map((chat) => ({ value: chat.id, label: chat.name }))}
              value={chatId}
              onChange={(value) => choose("chat", value)}
            />
          )}
        </Group>
        <Loaded query={found}>
          {({ items, pagination }) =>
            items.length ? (
              <div>
                {items.map((row) => (
                  <ConversationRow key={row.id} row={row} />
                ))}
                <Pages limit={LIMIT} offset={offset} total={pagination.total} onOffset={setOffset} />
              </div>
            ) : (
              <Empty icon={<IconMessages size={36} stroke={1.4} aria-hidden />} title={isFiltered ? t.nothing : t.none}>
                {!isFiltered && <Text span>{t.noneText}</Text>}
              </Empty>
            )
          }
        </Loaded>
      </Stack>
    </Card>
  );
}
