import { Group, SegmentedControl, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/vision";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Chart } from "../../parts/lazy-chart";
import { SeriesTable } from "../../parts/series-table";
import { Empty, Loaded } from "../../parts/states";
import classes from "./cameras.module.css";
import type { Stream } from "./kinds";
import { Snapshot } from "./snapshot";

const DAY_MS = 86_400_000;
const MOST_DAYS_BY_HOUR = 7;
const PERIODS = ["1", "7", "30", "90"] as const;

const texts: Texts<{
  period: string;
  periods: Record<string, string>;
  visitors: string;
  entered: string;
  left: string;
  queue: string;
  chart: string;
  queueChart: string;
  heat: string;
  heatHint: string;
  heatAlt: string;
  none: string;
  noneText: string;
  utc: string;
  hour: string;
  day: string;
}> = {
  en: {
    period: "Period",
    periods: { "1": "Today", "7": "7 days", "30": "30 days", "90": "90 days" },
    visitors: "Visitors",
    entered: "Came in",
    left: "Left",
    queue: "Seconds in the queue",
    chart: "Visitors",
    queueChart: "Mean wait in the queue, in seconds",
    heat: "Where people were",
    heatHint: "Blue where they passed, red where they stayed longest.",
    heatAlt: "Heat map of the period over the picture",
    none: "Nobody was counted in this period",
    noneText: "Visitors and queues are counted where the camera looks for them (“Visitors and queues”).",
    utc: "Days and hours are UTC.",
    hour: "Hour",
    day: "Day",
  },
  ru: {
    period: "Период",
    periods: { "1": "Сегодня", "7": "7 дней", "30": "30 дней", "90": "90 дней" },
    visitors: "Посетители",
    entered: "Вошли",
    left: "Вышли",
    queue: "Секунд в очереди",
    chart: "Посетители",
    queueChart: "Среднее ожидание в очереди, секунд",
    heat: "Где были люди",
    heatHint: "Синее — проходили, красное — стояли дольше всего.",
    heatAlt: "Тепловая карта за период поверх изображения",
    none: "За этот период никого не посчитали",
    noneText: "Посетители и очереди считаются, если камере задан сценарий «Посетители и очереди».",
    utc: "Дни и часы — по UTC.",
    hour: "Час",
    day: "День",
  },
};

type Bucket = components["schemas"]["TrafficBucket"];

/** Visitors and queues by the hour or day, and where people were. */
export function TrafficTab({ stream }: { stream: Stream }) {
  const t = useTexts(texts);
  const [days, setDays] = useState<string>("7");
  const to = new Date().toISOString().slice(0, 10);
  const from = new Date(Date.now() - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);
  const granularity = Number(days) <= MOST_DAYS_BY_HOUR ? ("hour" as const) : ("day" as const);
  const traffic = useQuery({
    queryKey: ["traffic", stream.id, from, to, granularity],
    queryFn: () => {
      const query = { stream_id: stream.id, from, to, granularity };
      return read(api.GET("/vision/v1/analytics/traffic", { params: { query } }));
    },
  });
  return (
    <Stack gap="lg">
      <Group justify="space-between">
        <SegmentedControl
          aria-label={t.period}
          value={days}
          onChange={setDays}
          data={PERIODS.map((value) => ({ value, label: t.periods[value] ?? value }))}
        />
        <Text size="sm" c="var(--soft)">
          {t.utc}
        </Text>
      </Group>
      <Loaded query={traffic}>
        {({ series }) =>
          series.some((each) => each.unique_visitors || each.entered || each.left || each.avg_queue_sec) ? (
            <Charts series={series} granularity={granularity} />
          ) : (
            <Card>
              <Empty title={t.none}>{t.noneText}</Empty>
            </Card>
          )
        }
      </Loaded>
      <Card title={t.heat}>
        <Text size="sm" c="var(--soft)" mb="sm">
          {t.heatHint}
        </Text>
        <Snapshot stream={stream}>
          <HeatMap stream={stream} from={from} to={to} />
        </Snapshot>
      </Card>
    </Stack>
  );
}

function Charts({ series, granularity }: { series: Bucket[]; granularity: "hour" | "day" }) {
  const t = useTexts(texts);
  const format = useFormat();
  const nameOf = useCallback(
    ({ bucket }: Bucket) => {
      const day = format.date(bucket.slice(0, 10));
      return granularity === "day" ? day : `${day} ${bucket.slice(11, 16)}`;
    },
    [format, granularity],
  );
  const zones = useMemo(
    () => [...new Set(series.flatMap(({ queues }) => queues.map(({ zone }) => zone)))].sort(),
    [series],
  );
  const options = useMemo(() => {
    const names = series.map(nameOf);
    const axes = { xAxis: { type: "category", data: names }, yAxis: { type: "value", minInterval: 1 } };
    const belowLegend = { left: 8, right: 16, top: 36, bottom: 8, containLabel: true };
    // So many hours would be a wall of bars.
    const type = granularity === "hour" ? "line" : "bar";
    const bar = (name: string, data: number[]) => ({ name, type, data, showSymbol: false });
    return {
      visitors: {
        ...axes,
        tooltip: { trigger: "axis" },
        legend: { top: 0 },
        grid: belowLegend,
        series: [
          bar(
            t.visitors,
            series.map((each) => each.unique_visitors),
          ),
          bar(
            t.entered,
            series.map((each) => each.entered),
          ),
          bar(
            t.left,
            series.map((each) => each.left),
          ),
        ],
      },
      queue: {
        ...axes,
        tooltip: { trigger: "axis" },
        ...(zones.length > 1 ? { legend: { top: 0, type: "scroll" }, grid: belowLegend } : {}),
        // What a release before counted has no zones.
        series: (zones.length ? zones : [null]).map((zone) => ({
          name: zone ?? t.queue,
          type: "line",
          showSymbol: false,
          data: series.map((each) => Math.round(zone === null ? each.avg_queue_sec : waitIn(each, zone))),
        })),
      },
    };
  }, [series, zones, granularity, nameOf, t]);
  const sum = (pick: (each: Bucket) => number) => format.number(series.reduce((all, each) => all + pick(each), 0));
  const named = series.map((each) => ({ ...each, label: nameOf(each) }));
  const counted = named.filter((each) => each.unique_visitors || each.entered || each.left);
  const waits = named.filter((each) => each.avg_queue_sec > 0);
  const head = granularity === "day" ? t.day : t.hour;
  return (
    <>
      <Card title={t.chart}>
        <SimpleGrid cols={{ base: 2, xs: 3 }} mb="md">
          <Figure name={t.entered} value={sum((each) => each.entered)} />
          <Figure name={t.left} value={sum((each) => each.left)} />
        </SimpleGrid>
        <Chart option={options.visitors} label={t.chart} height={280} />
        <SeriesTable
          head={head}
          rows={counted}
          columns={[
            { name: t.visitors, value: (each) => format.number(each.unique_visitors) },
            { name: t.entered, value: (each) => format.number(each.entered) },
            { name: t.left, value: (each) => format.number(each.left) },
          ]}
        />
      </Card>
      {waits.length > 0 && (
        <Card title={t.queueChart}>
          <Chart option={options.queue} label={t.queueChart} />
          <SeriesTable
            head={head}
            rows={waits}
            columns={[
              { name: t.queue, value: (each) => format.number(each.avg_queue_sec) },
              ...(zones.length > 1 ? zones : []).map((zone) => ({
                name: zone,
                value: (each: Bucket) => format.number(waitIn(each, zone)),
              })),
            ]}
          />
        </Card>
      )}
    </>
  );
}

function waitIn({ queues }: Bucket, zone: string): number {
  return queues.find((each) => each.zone === zone)?.avg_queue_sec ?? 0;
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <Text size="xs" c="var(--soft)">
        {name}
      </Text>
      <Text fz="xl" fw={650}>
        {value}
      </Text>
    </div>
  );
}

function HeatMap({ stream, from, to }: { stream: Stream; from: string; to: string }) {
  const t = useTexts(texts);
  const heat = useQuery({
    queryKey: ["heat", stream.id, from, to],
    queryFn: async () => {
      const query = { stream_id: stream.id, from, to };
      return read(api.GET("/vision/v1/analytics/heatmap", { params: { query } }));
    },
  });
  const picture = useMemo(() => (heat.data ? drawn(heat.data.cells) : null), [heat.data]);
  return picture && <img src={picture} alt={t.heatAlt} className={classes.heat} />;
}

// From blue over green and yellow to red, as the server's own picture has it.
const COLOURS = [
  [0, 0, 255, 0],
  [0, 120, 255, 110],
  [0, 220, 160, 150],
  [255, 220, 0, 180],
  [255, 40, 0, 210],
] as const;

/** The cells as a picture; null where nobody was. */
function drawn(cells: number[][]): string | null {
  const most = Math.max(...cells.flat());
  const canvas = document.createElement("canvas");
  canvas.height = cells.length;
  canvas.width = cells[0]?.length ?? 0;
  const context = canvas.getContext("2d");
  if (!context || !(most > 0) || !canvas.width) return null;
  const image = context.createImageData(canvas.width, canvas.height);
  cells.flat().forEach((value, index) => {
    const place = Math.sqrt(value / most) * (COLOURS.length - 1);
    const low = COLOURS[Math.floor(place)] ?? COLOURS[0];
    const high = COLOURS[Math.min(COLOURS.length - 1, Math.floor(place) + 1)] ?? low;
    const share = place % 1;
    image.data.set(
      low.map((each, at) => each + ((high[at] ?? each) - each) * share),
      index * 4,
    );
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
