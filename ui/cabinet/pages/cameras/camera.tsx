import { Alert, Badge, Group, Stack, Tabs, Text } from "@mantine/core";
import { IconChartHistogram, IconEye, IconPolygon } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearchParams } from "react-router";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Back } from "../../parts/back";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Loaded } from "../../parts/states";
import { ThingMenu } from "../../parts/thing-menu";
import { CameraForm } from "./camera-form";
import { Events } from "./events";
import { STATUS_COLOURS, type Stream, words } from "./kinds";
import { TrafficTab } from "./traffic-tab";
import { useTrouble } from "./trouble";
import { ZonesTab } from "./zones-tab";

const POLL_MS = 5000;

const texts: Texts<{
  back: string;
  zones: string;
  events: string;
  traffic: string;
  more: string;
  edit: string;
  remove: string;
  removeTitle: string;
  removeText: (name: string) => string;
  fps: (fps: string) => string;
  behind: (latency: string) => string;
}> = {
  en: {
    back: "Cameras",
    zones: "Picture and zones",
    events: "Events",
    traffic: "Visitors and heat",
    more: "More",
    edit: "Name, address, scenarios",
    remove: "Delete the camera",
    removeTitle: "Delete this camera?",
    removeText: (name) =>
      `“${name}” is watched no longer, and its address is forgotten. Its events stay for as long as events are kept.`,
    fps: (fps) => `${fps} pictures a second`,
    behind: (latency) => `${latency} ms from picture to event`,
  },
  ru: {
    back: "Камеры",
    zones: "Изображение и зоны",
    events: "События",
    traffic: "Посетители и тепло",
    more: "Ещё",
    edit: "Название, адрес, сценарии",
    remove: "Удалить камеру",
    removeTitle: "Удалить камеру?",
    removeText: (name) =>
      `За «${name}» больше не наблюдают, адрес забыт. События остаются, пока не истечёт их срок хранения.`,
    fps: (fps) => `${fps} кадр/с`,
    behind: (latency) => `${latency} мс от кадра до события`,
  },
};

export default function CameraPage() {
  const { id = "" } = useParams();
  const t = useTexts(texts);
  const stream = useQuery({
    queryKey: ["stream", id],
    queryFn: () => read(api.GET("/vision/v1/streams/{stream_id}", { params: { path: { stream_id: id } } })),
    refetchInterval: POLL_MS,
  });
  if (stream.data) return <CameraView key={id} stream={stream.data} />;
  return (
    <Page title={t.back} above={<Back to="/cameras">{t.back}</Back>}>
      <Loaded query={stream}>{() => null}</Loaded>
    </Page>
  );
}

function CameraView({ stream }: { stream: Stream }) {
  const t = useTexts(texts);
  const w = useTexts(words);
  const format = useFormat();
  const [search, setSearch] = useSearchParams();
  const troubles = useTrouble()(stream);
  const facts = [
    stream.width > 0 && `${stream.width} × ${stream.height}`,
    stream.fps > 0 && t.fps(format.number(stream.fps, 1)),
    stream.latency_ms > 0 && t.behind(format.number(stream.latency_ms)),
  ].filter(Boolean);
  return (
    <Page
      title={stream.name}
      above={<Back to="/cameras">{t.back}</Back>}
      lead={[stream.scenarios.map((each) => w.scenarios[each]).join(", "), ...facts].join(" · ")}
      actions={
        <Group gap="xs">
          <Badge variant="light" size="lg" color={STATUS_COLOURS[stream.status]}>
            {w.statuses[stream.status]}
          </Badge>
          {mayAct("operator") && <Actions stream={stream} />}
        </Group>
      }
    >
      {troubles.length > 0 && (
        <Alert color={stream.status === "error" ? "red" : "yellow"} variant="light" role="status">
          <Stack gap={4}>
            {troubles.map((line) => (
              <Text key={line} size="sm">
                {line}
              </Text>
            ))}
          </Stack>
        </Alert>
      )}
      <Tabs
        value={search.get("tab") ?? "zones"}
        onChange={(next) => setSearch(next && next !== "zones" ? { tab: next } : {}, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          <Tabs.Tab value="zones" leftSection={<IconPolygon size={16} aria-hidden />}>
            {t.zones}
          </Tabs.Tab>
          <Tabs.Tab value="events" leftSection={<IconEye size={16} aria-hidden />}>
            {t.events}
          </Tabs.Tab>
          <Tabs.Tab value="traffic" leftSection={<IconChartHistogram size={16} aria-hidden />}>
            {t.traffic}
          </Tabs.Tab>
        </Tabs.List>
        {/* What is half drawn stays while another tab is looked at. */}
        <Tabs.Panel value="zones" keepMounted>
          <ZonesTab stream={stream} />
        </Tabs.Panel>
        <Tabs.Panel value="events">
          <Card>
            <Events only={stream} />
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="traffic">
          <TrafficTab stream={stream} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Actions({ stream }: { stream: Stream }) {
  const t = useTexts(texts);
  return (
    <ThingMenu
      words={t}
      question={t.removeText(stream.name)}
      remove={() => read(api.DELETE("/vision/v1/streams/{stream_id}", { params: { path: { stream_id: stream.id } } }))}
      then="/cameras"
      form={(opened, close) => <CameraForm opened={opened} onClose={close} stream={stream} />}
    />
  );
}
