import { Anchor, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconEyeOff } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { api, read } from "../../api/client";
import { session } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { dayOver, dayStart } from "../../parts/days";
import { More } from "../../parts/more";
import { Empty, Failure, Waiting } from "../../parts/states";
import classes from "./cameras.module.css";
import { type CameraEvent, SCENARIOS, type Scenario, type Stream, words } from "./kinds";

const LIMIT = 25;
const POLL_MS = 5000;
/** Of the hour that the server's links hold. */
const PICTURE_KEPT_MS = 45 * 60_000;

const texts: Texts<{
  what: string;
  anything: string;
  from: string;
  to: string;
  more: string;
  none: string;
  noneText: string;
  picture: string;
  zone: (name: string) => string;
  vehicle: string;
  gone: string;
}> = {
  en: {
    what: "What",
    anything: "Anything",
    from: "From",
    to: "To",
    more: "Show earlier ones",
    none: "Nothing was seen",
    noneText: "Events stand here as soon as something happens before a camera.",
    picture: "Open the picture",
    zone: (name) => `in ${name}`,
    vehicle: "A vehicle in a restricted zone",
    gone: "deleted camera",
  },
  ru: {
    what: "Что",
    anything: "Всё",
    from: "С",
    to: "По",
    more: "Показать более ранние",
    none: "Ничего не видели",
    noneText: "События появятся здесь, как только что-то произойдёт перед камерой.",
    picture: "Открыть снимок",
    zone: (name) => `зона «${name}»`,
    vehicle: "Машина в запретной зоне",
    gone: "удалённая камера",
  },
};

/** What was seen, by all cameras or one of them, newest first, with its pictures. */
export function Events({ only }: { only?: Stream }) {
  const t = useTexts(texts);
  const w = useTexts(words);
  const [scenario, setScenario] = useState<string | null>(null);
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const events = useInfiniteQuery({
    queryKey: ["events", only?.id ?? null, scenario, from, to],
    queryFn: ({ pageParam }) => {
      const query = {
        limit: LIMIT,
        ...(only ? { stream_id: only.id } : {}),
        ...(scenario ? { scenario: scenario as Scenario } : {}),
        ...(from ? { from: dayStart(from, session.tenant.time_zone) } : {}),
        ...(to ? { to: dayOver(to, session.tenant.time_zone) } : {}),
        ...(pageParam ? { cursor: pageParam } : {}),
      };
      return read(api.GET("/vision/v1/events", { params: { query } }));
    },
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    // Only while nobody has gone back: else each of the pages would be asked for again.
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) <= 1 ? POLL_MS : false),
  });
  const items = events.data?.pages.flatMap((page) => page.items) ?? [];
  const pictureOf = usePictures();
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        <Select
          size="xs"
          label={t.what}
          placeholder={t.anything}
          data={(only?.scenarios ?? SCENARIOS).map((value) => ({ value, label: w.scenarios[value] }))}
          value={scenario}
          onChange={setScenario}
          clearable
          clearButtonProps={{ "aria-label": t.anything }}
          w={190}
        />
        <TextInput
          size="xs"
          type="date"
          label={t.from}
          value={from}
          max={to}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          size="xs"
          type="date"
          label={t.to}
          value={to}
          min={from}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
      </Group>
      {events.isError && !events.data && <Failure error={events.error} again={() => void events.refetch()} />}
      {events.isPending && <Waiting />}
      {events.data && !items.length && (
        <Empty icon={<IconEyeOff size={36} stroke={1.4} aria-hidden />} title={t.none}>
          {t.noneText}
        </Empty>
      )}
      <div>
        {items.map((event) => (
          <EventRow
            key={event.id}
            event={event}
            camera={only ? null : (event.stream_name ?? t.gone)}
            picture={pictureOf(event)}
          />
        ))}
      </div>
      <More list={events} size="xs">
        {t.more}
      </More>
    </Stack>
  );
}

/** The address of an event's picture. The server signs a new one with each answer: the first is kept while it holds, or
 * every look at the list would load all pictures again. */
function usePictures(): (event: CameraEvent) => string | null {
  const kept = useRef(new Map<string, { path: string; at: number }>());
  return ({ id, snapshot_url }) => {
    if (!snapshot_url) return null;
    const known = kept.current.get(id);
    if (known && Date.now() - known.at < PICTURE_KEPT_MS) return known.path;
    // On this page's own address: the server's public one may be another.
    const path = new URL(snapshot_url).pathname;
    kept.current.set(id, { path, at: Date.now() });
    return path;
  };
}

interface EventRowProps {
  event: CameraEvent;
  camera: string | null;
  picture: string | null;
}

function EventRow({ event, camera, picture }: EventRowProps) {
  const t = useTexts(texts);
  const w = useTexts(words);
  const format = useFormat();
  const { text, zone, object } = event.metadata as { text?: unknown; zone?: unknown; object?: unknown };
  const what = object === "vehicle" ? t.vehicle : (w.types[event.type] ?? event.type);
  return (
    <div className={classes.event}>
      {picture && (
        <Anchor href={picture} target="_blank" rel="noreferrer" aria-label={t.picture} flex="none">
          <img src={picture} alt="" loading="lazy" />
        </Anchor>
      )}
      <Stack gap={2} miw={0}>
        <Text fw={500}>
          {what}
          {typeof text === "string" && `: ${text}`}
        </Text>
        <Text size="sm" c="dimmed">
          {[
            format.moment(event.occurred_at),
            camera,
            typeof zone === "string" && t.zone(zone),
            format.percent(100 * event.confidence),
          ]
            .filter(Boolean)
            .join(" · ")}
        </Text>
      </Stack>
    </div>
  );
}
