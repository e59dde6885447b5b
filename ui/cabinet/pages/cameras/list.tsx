import { Anchor, Badge, Button, Code, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCamera, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import { CameraForm } from "./camera-form";
import { Events } from "./events";
import { STATUS_COLOURS, type Stream, words } from "./kinds";
import { Snapshot } from "./snapshot";
import { useTrouble } from "./trouble";

const LIMIT = 24;
const POLL_MS = 5000;

const texts: Texts<{
  title: string;
  lead: string;
  add: string;
  none: string;
  noneText: (command: ReactNode) => ReactNode;
  events: string;
  seen: (when: string) => string;
  nothingSeen: string;
}> = {
  en: {
    title: "Cameras",
    lead: "What your cameras see: people and queues, safety, plates and codes. Each thing seen is one event.",
    add: "Add a camera",
    none: "No camera is connected",
    noneText: (command) => <>Add one by its RTSP address. With no camera at hand, {command} shows parcels on a belt.</>,
    events: "What was seen",
    seen: (when) => `last event ${when}`,
    nothingSeen: "nothing seen yet",
  },
  ru: {
    title: "Камеры",
    lead: "Что видят ваши камеры: людей и очереди, безопасность, номера и коды. Одно увиденное — одно событие.",
    add: "Добавить камеру",
    none: "Камеры не подключены",
    noneText: (command) => (
      <>Добавьте камеру по её RTSP-адресу. Если камеры под рукой нет, {command} покажет посылки на ленте.</>
    ),
    events: "Что увидели",
    seen: (when) => `последнее событие ${when}`,
    nothingSeen: "событий ещё не было",
  },
};

export default function CamerasPage() {
  const t = useTexts(texts);
  const [offset, setOffset] = useState(0);
  const [opened, { open, close }] = useDisclosure();
  const streams = useQuery({
    queryKey: ["streams", offset],
    queryFn: () => read(api.GET("/vision/v1/streams", { params: { query: { limit: LIMIT, offset } } })),
    refetchInterval: POLL_MS,
  });
  const isEmpty = streams.data?.pagination.total === 0;
  // Of cameras that were deleted something may be kept.
  const kept = useQuery({
    queryKey: ["events", "any"],
    enabled: isEmpty,
    queryFn: () => read(api.GET("/vision/v1/events", { params: { query: { limit: 1 } } })),
  });
  const add = mayAct("operator") && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      {t.add}
    </Button>
  );
  return (
    <Page title={t.title} lead={t.lead} actions={!isEmpty && add}>
      <Loaded query={streams}>
        {({ items, pagination }) =>
          items.length ? (
            <div>
              <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
                {items.map((stream) => (
                  <CameraCard key={stream.id} stream={stream} />
                ))}
              </SimpleGrid>
              <Pages limit={LIMIT} offset={offset} total={pagination.total} onOffset={setOffset} />
            </div>
          ) : (
            <Empty icon={<IconCamera size={40} stroke={1.4} aria-hidden />} title={t.none} action={add}>
              {t.noneText(<Code style={{ whiteSpace: "nowrap" }}>parley vision demo</Code>)}
            </Empty>
          )
        }
      </Loaded>
      {(!isEmpty || Boolean(kept.data?.items.length)) && (
        <Card title={t.events}>
          <Events />
        </Card>
      )}
      <CameraForm opened={opened} onClose={close} />
    </Page>
  );
}

function CameraCard({ stream }: { stream: Stream }) {
  const t = useTexts(texts);
  const w = useTexts(words);
  const format = useFormat();
  const [trouble] = useTrouble()({ ...stream, notes: [] });
  return (
    <Card>
      <Stack gap="xs">
        <Snapshot stream={stream} />
        <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs">
          <Anchor component={Link} to={`/cameras/${stream.id}`} fw={600} c="inherit" lineClamp={2}>
            {stream.name}
          </Anchor>
          <Badge variant="light" color={STATUS_COLOURS[stream.status]} flex="none">
            {w.statuses[stream.status]}
          </Badge>
        </Group>
        <Text size="sm" c="dimmed">
          {stream.scenarios.map((scenario) => w.scenarios[scenario]).join(" · ")}
        </Text>
        <Text size="sm" c={trouble ? "light-dark(#b02525, #ff8787)" : "dimmed"} lineClamp={2}>
          {trouble || (stream.last_event_at ? t.seen(format.ago(stream.last_event_at)) : t.nothingSeen)}
        </Text>
      </Stack>
    </Card>
  );
}
