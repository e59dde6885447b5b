import { Anchor, Badge, Button, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBooks, IconLock, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import type { Forms } from "../../i18n/format";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import type { Space } from "./kinds";
import { SpaceForm } from "./space-form";

const LIMIT = 60;

const texts: Texts<{
  title: string;
  lead: string;
  add: string;
  none: string;
  noneText: string;
  limited: string;
  changed: string;
  documents: Forms;
}> = {
  en: {
    title: "Knowledge",
    lead: "What agents and chats answer from. A space holds documents that belong together; it can be kept to certain chats and keys.",
    add: "New space",
    none: "There is no space yet",
    noneText: "Make one, drop your documents into it, and every answer will name the passage it stands on.",
    limited: "Limited",
    changed: "Changed",
    documents: { one: "document", other: "documents" },
  },
  ru: {
    title: "База знаний",
    lead: "Из неё отвечают агенты и чаты. В разделе лежат документы, связанные по смыслу; его можно открыть только для некоторых чатов и ключей.",
    add: "Новый раздел",
    none: "Разделов пока нет",
    noneText: "Создайте раздел и перетащите в него документы: каждый ответ будет ссылаться на место в них.",
    limited: "Ограничен",
    changed: "Изменён",
    documents: { one: "документ", few: "документа", many: "документов", other: "документа" },
  },
};

export default function SpacesPage() {
  const t = useTexts(texts);
  const [offset, setOffset] = useState(0);
  const [opened, { open, close }] = useDisclosure();
  const spaces = useQuery({
    queryKey: ["spaces", offset],
    queryFn: () => read(api.GET("/public/v1/kb/spaces", { params: { query: { limit: LIMIT, offset } } })),
  });
  const add = mayAct("operator") && (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      {t.add}
    </Button>
  );
  return (
    <Page title={t.title} lead={t.lead} actions={add}>
      <Loaded query={spaces}>
        {({ items, pagination }) =>
          items.length ? (
            <div>
              <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
                {items.map((space) => (
                  <SpaceCard key={space.id} space={space} />
                ))}
              </SimpleGrid>
              <Pages limit={LIMIT} offset={offset} total={pagination.total} onOffset={setOffset} />
            </div>
          ) : (
            <Empty icon={<IconBooks size={40} stroke={1.4} aria-hidden />} title={t.none} action={add}>
              {t.noneText}
            </Empty>
          )
        }
      </Loaded>
      <SpaceForm opened={opened} onClose={close} />
    </Page>
  );
}

function SpaceCard({ space }: { space: Space }) {
  const t = useTexts(texts);
  const format = useFormat();
  return (
    <Card>
      <Stack gap={6} h="100%">
        <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs">
          <Anchor component={Link} to={`/knowledge/${space.id}`} fw={600} c="inherit" lineClamp={2}>
            {space.name}
          </Anchor>
          {space.access && (
            <Badge variant="default" leftSection={<IconLock size={12} aria-hidden />} flex="none">
              {t.limited}
            </Badge>
          )}
        </Group>
        {space.description && (
          <Text size="sm" c="dimmed" lineClamp={3}>
            {space.description}
          </Text>
        )}
        <Text size="sm" c="dimmed" mt="auto">
          {format.count(space.document_count, t.documents)} · {t.changed.toLowerCase()} {format.ago(space.updated_at)}
        </Text>
      </Stack>
    </Card>
  );
}
