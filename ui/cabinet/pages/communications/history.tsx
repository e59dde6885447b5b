import { Anchor, Badge, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import type { Forms } from "../../i18n/format";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Failure } from "../../parts/states";
import { kindTexts, labelName } from "./kinds";
import classes from "./page.module.css";
import { Quote } from "./quote";

const texts: Texts<{
  corrections: string;
  text: (number: number) => string;
  label: (number: number) => string;
  speaker: (label: string) => string;
  nobody: string;
  stale: string;
  deliveries: string;
  states: Record<"pending" | "delivered" | "failed", string>;
  attempts: Forms;
  log: string;
}> = {
  en: {
    corrections: "Corrections",
    text: (number) => `Text of turn ${number}`,
    label: (number) => `Speaker of turn ${number}`,
    speaker: (label) => `Whose voice is ${label}`,
    nobody: "nobody",
    stale: "The analysis is older than these corrections: “Analyse again” takes them in.",
    deliveries: "Webhooks",
    states: { pending: "on its way", delivered: "delivered", failed: "failed" },
    attempts: { one: "attempt", other: "attempts" },
    log: "All deliveries",
  },
  ru: {
    corrections: "Исправления",
    text: (number) => `Текст реплики ${number}`,
    label: (number) => `Кто сказал реплику ${number}`,
    speaker: (label) => `Чей голос ${label}`,
    nobody: "никто",
    stale: "Анализ старше этих исправлений: «Анализировать заново» учтёт их.",
    deliveries: "Вебхуки",
    states: { pending: "в пути", delivered: "доставлено", failed: "не доставлено" },
    attempts: { one: "попытка", few: "попытки", many: "попыток", other: "попытки" },
    log: "Все доставки",
  },
};

interface CorrectionsProps {
  id: string;
  analysedAt: string | null;
  onShow: (idx: number) => void;
}

/** What people changed, newest first, with what was there before. */
export function Corrections({ id, analysedAt, onShow }: CorrectionsProps) {
  const t = useTexts(texts);
  const { speaker } = useTexts(kindTexts);
  const format = useFormat();
  const list = useQuery({
    queryKey: ["corrections", id],
    queryFn: () =>
      read(
        api.GET("/public/v1/communications/{communication_id}/corrections", {
          params: { path: { communication_id: id } },
        }),
      ),
  });
  const items = list.data?.items ?? [];
  const newest = items[0];
  const isStale = newest !== undefined && analysedAt !== null && Date.parse(newest.created_at) > Date.parse(analysedAt);
  if (list.isError && !list.data) return <Unloaded title={t.corrections} list={list} />;
  if (!items.length) return null;
  const shown = (kind: string, text: string | null) =>
    text === null ? t.nobody : kind === "label" ? labelName(text, speaker) : text;
  return (
    <Card title={t.corrections}>
      {isStale && (
        <Text size="xs" c="dimmed" mb="sm">
          {t.stale}
        </Text>
      )}
      <ul className={classes.findings}>
        {items.map((each) => (
          <li key={each.id}>
            <Text size="sm" fw={500}>
              {each.kind === "speaker"
                ? t.speaker(labelName(each.label ?? "", speaker))
                : t[each.kind]((each.idx ?? 0) + 1)}
            </Text>
            <Text size="sm" c="dimmed" td="line-through" lineClamp={4}>
              {shown(each.kind, each.before)}
            </Text>
            {each.kind === "text" ? (
              <Quote text={each.after ?? ""} idx={each.idx} onShow={onShow} />
            ) : (
              <Text size="sm">{shown(each.kind, each.after)}</Text>
            )}
            <Text size="xs" c="dimmed">
              {each.actor} · {format.moment(each.created_at)}
            </Text>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** What could not be loaded is not the same as nothing. */
function Unloaded({ title, list }: { title: string; list: { error: unknown; refetch: () => unknown } }) {
  return (
    <Card title={title}>
      <Failure error={list.error} again={() => void list.refetch()} />
    </Card>
  );
}

const COLOURS = { pending: "gray", delivered: "green", failed: "red" };

/** The events of this communication, and how each went. */
export function Deliveries({ id }: { id: string }) {
  const t = useTexts(texts);
  const format = useFormat();
  const list = useQuery({
    queryKey: ["deliveries-of", id],
    queryFn: () =>
      read(api.GET("/public/v1/webhook-deliveries", { params: { query: { communication_id: id, limit: 20 } } })),
  });
  const items = list.data?.items ?? [];
  if (list.isError && !list.data) return <Unloaded title={t.deliveries} list={list} />;
  if (!items.length) return null;
  return (
    <Card title={t.deliveries}>
      <Stack gap="sm">
        {items.map((each) => (
          <div key={each.id}>
            <Text size="sm" fw={500}>
              {each.event}{" "}
              <Badge size="sm" variant="dot" color={COLOURS[each.status]} tt="none" fw={500}>
                {t.states[each.status]}
              </Badge>
            </Text>
            <Text size="xs" c="dimmed">
              {format.moment(each.created_at)} · {format.count(each.attempts, t.attempts)}
              {each.attempt_log[0]?.error ? ` · ${each.attempt_log[0].error}` : ""}
            </Text>
          </div>
        ))}
        <Anchor component={Link} to="/settings/webhooks" size="sm">
          {t.log}
        </Anchor>
      </Stack>
    </Card>
  );
}
