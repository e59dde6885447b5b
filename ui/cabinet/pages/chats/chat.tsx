import { Badge, Tabs } from "@mantine/core";
import { IconAdjustments, IconShieldX, IconThumbUp } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearchParams } from "react-router";
import { api, read } from "../../api/client";
import { type Texts, useTexts } from "../../i18n/language";
import { Back } from "../../parts/back";
import { Page } from "../../parts/page";
import { Loaded } from "../../parts/states";
import { AnswersTab } from "./answers-tab";
import type { Chat } from "./kinds";
import { RefusedTab } from "./refused-tab";
import { SettingsTab } from "./settings-tab";

const texts: Texts<{ back: string; settings: string; answers: string; refused: string; off: string }> = {
  en: {
    back: "Chat agents",
    settings: "Settings",
    answers: "Votes and gaps",
    refused: "Refused calls",
    off: "Switched off",
  },
  ru: {
    back: "Чат-агенты",
    settings: "Настройки",
    answers: "Оценки и пробелы",
    refused: "Отказы",
    off: "Выключен",
  },
};

export default function ChatPage() {
  const { id = "" } = useParams();
  const t = useTexts(texts);
  const chat = useQuery({
    queryKey: ["chat", id],
    queryFn: () => read(api.GET("/public/v1/chats/{chat_id}", { params: { path: { chat_id: id } } })),
  });
  if (chat.data) return <ChatView key={id} chat={chat.data} />;
  return (
    <Page title={t.back} above={<Back to="/chats">{t.back}</Back>}>
      <Loaded query={chat}>{() => null}</Loaded>
    </Page>
  );
}

function ChatView({ chat }: { chat: Chat }) {
  const t = useTexts(texts);
  const [search, setSearch] = useSearchParams();
  return (
    <Page
      title={chat.name}
      above={<Back to="/chats">{t.back}</Back>}
      actions={!chat.is_active && <Badge color="gray">{t.off}</Badge>}
    >
      <Tabs
        value={search.get("tab") ?? "settings"}
        onChange={(next) => setSearch(next && next !== "settings" ? { tab: next } : {}, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          <Tabs.Tab value="settings" leftSection={<IconAdjustments size={16} aria-hidden />}>
            {t.settings}
          </Tabs.Tab>
          <Tabs.Tab value="answers" leftSection={<IconThumbUp size={16} aria-hidden />}>
            {t.answers}
          </Tabs.Tab>
          <Tabs.Tab value="refused" leftSection={<IconShieldX size={16} aria-hidden />}>
            {t.refused}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="settings" keepMounted>
          <SettingsTab chat={chat} />
        </Tabs.Panel>
        <Tabs.Panel value="answers">
          <AnswersTab chat={chat} />
        </Tabs.Panel>
        <Tabs.Panel value="refused">
          <RefusedTab chat={chat} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
