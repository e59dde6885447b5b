import { Anchor, Text } from "@mantine/core";
import { useMemo } from "react";
import { Link, useNavigate } from "react-router";
import type { Format } from "../../i18n/format";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Chart } from "../../parts/lazy-chart";
import { SeriesTable } from "../../parts/series-table";
import { listPath, type Period, shiftDay } from "./period";
import type { Figures, Metrics } from "./queries";
import { texts } from "./texts";

// Of those of every chart: green and red that are told apart by those who do not see the difference.
const BOTH_COLOURS = ["#0f8a73", "#c8553d"];

interface Stretch {
  from: string;
  to: string;
  label: string;
  figures: Figures;
}

/** The stretches of the period with the days that each is of. */
export function useStretches(data: Metrics, period: Period): Stretch[] {
  const format = useFormat();
  return useMemo(() => {
    const short = (day: string) => format.date(day).replace(/\s?\d{4}.*$/, "");
    return data.items.map((item, index) => {
      const from = item.key ?? period.from;
      const next = data.items[index + 1]?.key;
      const to = next ? shiftDay(next, -1) : period.to;
      return { from, to, label: from === to ? short(from) : `${short(from)} – ${short(to)}`, figures: item.figures };
    });
  }, [data, period, format]);
}

interface FiguresTableProps {
  rows: Stretch[];
  columns: { name: string; value: (figures: Figures) => string }[];
  to: (row: Stretch) => string;
}

/** The figures of a chart in words, each day a link to its list. */
function FiguresTable({ rows, columns, to }: FiguresTableProps) {
  const t = useTexts(texts);
  const shown = columns.map(({ name, value }) => ({ name, value: (row: Stretch) => value(row.figures) }));
  return <SeriesTable head={t.day} rows={rows} columns={shown} to={to} />;
}

interface ChartProps {
  data: Metrics;
  period: Period;
}

/** How many there were, beside the period before. */
export function VolumeCard({ data, earlier, period }: ChartProps & { earlier: Metrics | undefined }) {
  const t = useTexts(texts);
  const format = useFormat();
  const navigate = useNavigate();
  const rows = useStretches(data, period);
  const option = useMemo(
    () => ({
      tooltip: { trigger: "axis" },
      legend: earlier ? { top: 0, right: 0, icon: "roundRect", itemWidth: 12, itemHeight: 8 } : undefined,
      grid: { left: 4, right: 8, top: 32, bottom: 4, containLabel: true },
      xAxis: { type: "category", data: rows.map((row) => row.label), axisTick: { show: false } },
      yAxis: { type: "value", minInterval: 1 },
      series: [
        {
          name: t.now,
          type: "bar",
          barMaxWidth: 26,
          itemStyle: { borderRadius: [4, 4, 0, 0] },
          data: rows.map((row) => row.figures.count),
        },
        ...(earlier
          ? [
              {
                name: t.before,
                type: "line",
                smooth: true,
                symbol: "none",
                lineStyle: { type: "dashed", width: 2 },
                data: rows.map((_, index) => earlier.items[index]?.figures.count ?? null),
              },
            ]
          : []),
      ],
    }),
    [rows, earlier, t],
  );
  return (
    <Card title={t.volume}>
      <Chart
        option={option}
        label={t.volumeLabel}
        height={260}
        onPick={({ dataIndex }) => {
          const row = rows[dataIndex];
          if (row) void navigate(listPath(row));
        }}
      />
      <FiguresTable
        rows={rows}
        to={listPath}
        columns={[{ name: t.tiles.count, value: (figures) => format.number(figures.count) }]}
      />
    </Card>
  );
}

const UNANSWERED = { answered: "false" };
const ANSWERED = { answered: "true" };

/** Calls that reached somebody, chats and mails that both sides wrote in; and those that did not. */
export function AnsweringCard({ data, period }: ChartProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const navigate = useNavigate();
  const rows = useStretches(data, period);
  const option = useMemo(() => {
    const bars = { type: "bar", stack: "calls", barMaxWidth: 22 };
    return {
      tooltip: { trigger: "axis" },
      legend: { top: 0, right: 0, icon: "roundRect", itemWidth: 12, itemHeight: 8 },
      grid: { left: 4, right: 8, top: 32, bottom: 4, containLabel: true },
      color: BOTH_COLOURS,
      xAxis: { type: "category", data: rows.map((row) => row.label), axisTick: { show: false } },
      yAxis: { type: "value", minInterval: 1 },
      series: [
        { name: t.answered, ...bars, data: rows.map((row) => row.figures.answered) },
        { name: t.unanswered, ...bars, data: rows.map((row) => row.figures.unanswered) },
      ],
    };
  }, [rows, t]);
  return (
    <Card
      title={t.answering}
      actions={
        <Anchor component={Link} to={listPath(period, UNANSWERED)} size="sm">
          {t.allMissed}
        </Anchor>
      }
    >
      <Chart
        option={option}
        label={t.answeringLabel}
        height={220}
        onPick={({ dataIndex, seriesName }) => {
          const row = rows[dataIndex];
          if (row) void navigate(listPath(row, seriesName === t.unanswered ? UNANSWERED : ANSWERED));
        }}
      />
      <FiguresTable
        rows={rows}
        to={(row) => listPath(row, UNANSWERED)}
        columns={[
          { name: t.answered, value: (figures) => format.number(figures.answered) },
          { name: t.unanswered, value: (figures) => format.number(figures.unanswered) },
        ]}
      />
    </Card>
  );
}

/** Chats and mails in which the company replied: those that the time is the average of. */
export const REPLIED = { replied: "true" };

/** How long chats and mails waited for the first reply. */
export function ReplyCard({ data, period }: ChartProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const navigate = useNavigate();
  const rows = useStretches(data, period);
  const hasAny = rows.some((row) => row.figures.avg_first_reply_s !== null);
  const option = useMemo(
    () => ({
      tooltip: { trigger: "axis", valueFormatter: (value: unknown) => shownMinutes(value, format) },
      grid: { left: 4, right: 8, top: 16, bottom: 4, containLabel: true },
      xAxis: { type: "category", data: rows.map((row) => row.label), axisTick: { show: false } },
      yAxis: { type: "value", axisLabel: { formatter: (value: number) => shownMinutes(value, format) } },
      series: [
        {
          name: t.tiles.reply,
          type: "bar",
          barMaxWidth: 22,
          itemStyle: { borderRadius: [4, 4, 0, 0] },
          data: rows.map(({ figures: { avg_first_reply_s: seconds } }) => (seconds === null ? null : seconds / 60)),
        },
      ],
    }),
    [rows, t, format],
  );
  return (
    <Card title={t.replies}>
      {hasAny ? (
        <>
          <Chart
            option={option}
            label={t.repliesLabel}
            height={220}
            onPick={({ dataIndex }) => {
              const row = rows[dataIndex];
              if (row) void navigate(listPath(row, REPLIED));
            }}
          />
          <FiguresTable
            rows={rows.filter((row) => row.figures.avg_first_reply_s !== null)}
            to={(row) => listPath(row, REPLIED)}
            columns={[{ name: t.tiles.reply, value: (figures) => format.length(figures.avg_first_reply_s ?? 0) }]}
          />
        </>
      ) : (
        <Text size="sm" c="var(--soft)">
          {t.noReplies}
        </Text>
      )}
    </Card>
  );
}

const shownMinutes = (minutes: unknown, format: Format) =>
  typeof minutes === "number" ? format.length(minutes * 60) : "—";

/** Those that quality control gave a score. */
const JUDGED = { score_from: "0" };

/** The average score of quality control; stretches in which nothing was judged leave no gap. */
export function QualityCard({ data, period, leads = true }: ChartProps & { leads?: boolean }) {
  const t = useTexts(texts);
  const format = useFormat();
  const navigate = useNavigate();
  const rows = useStretches(data, period);
  const hasAny = rows.some((row) => row.figures.qc_score_pct !== null);
  const option = useMemo(
    () => ({
      tooltip: { trigger: "axis" },
      grid: { left: 4, right: 8, top: 16, bottom: 4, containLabel: true },
      xAxis: { type: "category", data: rows.map((row) => row.label), boundaryGap: false },
      yAxis: {
        type: "value",
        max: 100,
        min: ({ min }: { min: number }) => Math.max(0, Math.floor(min / 20) * 20 - 20),
      },
      series: [
        {
          name: t.score,
          type: "line",
          connectNulls: true,
          symbolSize: 7,
          lineStyle: { width: 3 },
          areaStyle: { opacity: 0.12 },
          data: rows.map((row) => row.figures.qc_score_pct),
        },
      ],
    }),
    [rows, t],
  );
  return (
    <Card
      title={t.quality}
      actions={
        leads && (
          <Anchor component={Link} to={`/quality?from=${period.from}&to=${period.to}`} size="sm">
            {t.allQuality}
          </Anchor>
        )
      }
    >
      {hasAny ? (
        <>
          <Chart
            option={option}
            label={t.qualityLabel}
            height={220}
            onPick={({ dataIndex }) => {
              const row = rows[dataIndex];
              if (row) void navigate(listPath(row, JUDGED));
            }}
          />
          <FiguresTable
            to={(row) => listPath(row, JUDGED)}
            rows={rows.filter((row) => row.figures.qc_score_pct !== null)}
            columns={[{ name: t.score, value: (figures) => format.percent(figures.qc_score_pct, 1) }]}
          />
        </>
      ) : (
        <Text size="sm" c="var(--soft)">
          {t.noQuality}
        </Text>
      )}
    </Card>
  );
}
