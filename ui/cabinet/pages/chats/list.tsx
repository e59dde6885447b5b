import { Anchor, Badge, Button, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus, IconRobot } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Empty, Loaded } from "../../parts/states";
import type { Chat } from "./kinds";
import { NewChat } from "./new-chat";

const texts: Texts<{
  title: string;
  lead: string;
  add: string;
  none: string;
  noneText: string;
  isDefault: string;
  off: string;
  changed: string;
}> = {
  en: {
    title: "Chat agents",
    lead: "A chat answers from your documents: for your people and programs, and for visitors of your site by the widget.",
    add: "New chat",
    none: "There is no chat",
    noneText: "Make one, and put its widget onto your site with one line.",
    isDefault: "Default",
    off: "Switched off",
    changed: "changed",
  },
  ru: {
    title: "Чат-агенты",
    lead: "Чат отвечает по вашим документам: сотрудникам, программам и посетителям сайта через виджет.",
    add: "Новый чат",
    none: "Чатов нет",
    noneText: "Создайте чат и поставьте его виджет на сайт одной строкой.",
    isDefault: "По умолчанию",
    off: "Выключен",
    changed: "изменён",
  },
};

export default function ChatsPage() {
  const t = useTexts(texts);
  const [opened, { open, close }] = useDisclosure();
  const chats = useQuery({ queryKey: ["chats"], queryFn: () => read(api.GET("/public/v1/chats")) });
  const add = mayAct("operator") && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      {t.add}
    </Button>
  );
  return (
    <Page title={t.title} lead={t.lead} actions={add}>
      <Loaded query={chats}>
        {({ items }) =>
          items.length ? (
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
              {items.map((chat) => (
                <ChatCard key={chat.id} chat={chat} />
              ))}
            </SimpleGrid>
          ) : (
            <Empty icon={<IconRobot size={40} stroke={1.4} aria-hidden />} title={t.none} action={add}>
              {t.noneText}
            </Empty>
          )
        }
      </Loaded>
      <NewChat opened={opened} onClose={close} />
    </Page>
  );
}

function ChatCard({ chat }: { chat: Chat }) {
  const t = useTexts(texts);
  const format = useFormat();
  return (
    <Card>
      <Stack gap={6} h="100%">
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <Swatch colour={chat.theme.accent ?? null} />
          <Anchor component={Link} to={`/chats/${chat.id}`} fw={600} c="inherit" lineClamp={2} flex={1}>
            {chat.name}
          </Anchor>
          {chat.is_default && (
            <Badge variant="light" flex="none">
              {t.isDefault}
            </Badge>
          )}
          {!chat.is_active && (
            <Badge variant="light" color="gray" flex="none">
              {t.off}
            </Badge>
          )}
        </Group>
        {chat.greeting && (
          <Text size="sm" c="dimmed" lineClamp={2}>
            {chat.greeting}
          </Text>
        )}
        <Text size="sm" c="dimmed" mt="auto">
          {t.changed} {format.ago(chat.updated_at)}
        </Text>
      </Stack>
    </Card>
  );
}

function Swatch({ colour }: { colour: string | null }) {
  const background = colour ?? "var(--mantine-primary-color-filled)";
  return (
    <span aria-hidden style={{ width: 14, height: 14, borderRadius: 7, background, flex: "none", marginTop: 5 }} />
  );
}
