import { SimpleGrid, Text } from "@mantine/core";
import { IconArrowDownRight, IconArrowUpRight } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { hasFeature } from "../../app/session";
import { useFormat, useTexts } from "../../i18n/language";
import { REPLIED } from "./charts";
import classes from "./overview.module.css";
import { listPath, type Period } from "./period";
import type { Metrics } from "./queries";
import { texts } from "./texts";

interface TileProps {
  label: string;
  value: string;
  /** How it changed: its words, and whether that is good. */
  change: { text: string; isUp: boolean; isGood: boolean | null } | null;
  note: ReactNode;
  to: string;
}

function Tile({ label, value, change, note, to }: TileProps) {
  const tone = change?.isGood === true ? classes.up : change?.isGood === false ? classes.down : undefined;
  return (
    <Link to={to} className={classes.tile}>
      <Text size="sm" c="var(--soft)" truncate>
        {label}
      </Text>
      <span className={classes.value}>{value}</span>
      {change && (
        <Text size="xs" className={tone ?? classes.soft ?? ""} component="span">
          {change.isUp ? <IconArrowUpRight size={13} aria-hidden /> : <IconArrowDownRight size={13} aria-hidden />}{" "}
          {change.text}
        </Text>
      )}
      <Text size="xs" c="var(--soft)">
        {note}
      </Text>
    </Link>
  );
}

/** The figures of the period at a glance, each beside the period before and leading to what is behind it. */
export function Tiles({ data, period, overdue }: { data: Metrics; period: Period; overdue: number | null }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { total, before } = data;
  const changed = (
    now: number | null,
    was: number | null,
    shown: (value: number) => string,
    better: "more" | "less" | null,
  ) => {
    if (now === null || was === null || now === was) return null;
    const isUp = now > was;
    return { text: t.was(shown(was)), isUp, isGood: better === null ? null : isUp === (better === "more") };
  };
  const share = (value: number) => format.percent(value);
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: hasFeature("qc") ? 6 : 5 }} spacing="sm">
      <Tile
        label={t.tiles.count}
        value={format.number(total.count)}
        change={changed(total.count, before.count, format.number, null)}
        note={t.total(format.length(total.duration_s))}
        to={listPath(period)}
      />
      <Tile
        label={t.tiles.answered}
        value={format.percent(total.answered_pct)}
        change={changed(total.answered_pct, before.answered_pct, share, "more")}
        note={total.unanswered ? format.count(total.unanswered, t.missed) : t.noMissed}
        to={listPath(period, { answered: total.unanswered ? "false" : "true" })}
      />
      <Tile
        label={t.tiles.reply}
        value={total.avg_first_reply_s === null ? "—" : format.length(total.avg_first_reply_s)}
        change={changed(total.avg_first_reply_s, before.avg_first_reply_s, format.length, "less")}
        note={`${t.kinds.chat}, ${t.kinds.email?.toLowerCase()}`}
        to={listPath(period, REPLIED)}
      />
      <Tile
        label={t.tiles.duration}
        value={total.avg_duration_s === null ? "—" : format.clock(total.avg_duration_s)}
        change={changed(total.avg_duration_s, before.avg_duration_s, format.clock, null)}
        note={total.staff_talk_pct === null ? "" : t.staffTalk(format.percent(total.staff_talk_pct))}
        to={listPath(period, { kind: "call" })}
      />
      {hasFeature("qc") && (
        <Tile
          label={t.tiles.score}
          value={format.percent(total.qc_score_pct)}
          change={changed(total.qc_score_pct, before.qc_score_pct, share, "more")}
          note={total.qc_score_pct === null ? t.notJudged : ""}
          to={`/quality?from=${period.from}&to=${period.to}`}
        />
      )}
      <Tile
        label={t.tiles.promises}
        value={format.number(total.commitments)}
        change={changed(total.commitments, before.commitments, format.number, null)}
        note={overdue ? format.count(overdue, t.overdue) : overdue === 0 ? t.noOverdue : ""}
        to={`/promises?state=all&from=${period.from}&to=${period.to}`}
      />
    </SimpleGrid>
  );
}
