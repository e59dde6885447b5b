import { Group, Stack, Text } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Failure, Waiting } from "../../parts/states";
import { TONES, toneNames } from "../communications/tones";
import classes from "./overview.module.css";
import { listPath, type Period } from "./period";

const texts: Texts<{ title: string; lead: string; none: string }> = {
  en: {
    title: "Tone of the staff",
    lead: "As quality control heard it, where it could tell; its quotation stands with each conversation.",
    none: "Quality control found no tone in this period that it could tell.",
  },
  ru: {
    title: "Тон сотрудников",
    lead: "Как его оценил контроль качества там, где это ясно; цитата есть в каждом разговоре.",
    none: "За этот период тон нигде не удалось определить.",
  },
};

/** How polite and friendly the staff were: each row counts what its link lists. */
export function ToneCard({ period }: { period: Period }) {
  const t = useTexts(texts);
  const names = useTexts(toneNames);
  const format = useFormat();
  const { from, to } = period;
  const found = useQueries({
    queries: TONES.map((tone) => ({
      queryKey: ["tone", tone, from, to],
      queryFn: () =>
        read(api.GET("/public/v1/communications/search", { params: { query: { tone, from, to, limit: 1 } } })),
    })),
    combine: (all) => ({
      counts: all.map(({ data }) => data?.total ?? 0),
      isPending: all.some(({ isPending }) => isPending),
      failed: all.find(({ isError }) => isError),
    }),
  });
  const all = found.counts.reduce((sum, count) => sum + count, 0);
  return (
    <Card title={t.title}>
      {found.failed ? (
        <Failure error={found.failed.error} again={() => void found.failed?.refetch()} />
      ) : found.isPending ? (
        <Waiting lines={3} />
      ) : all === 0 ? (
        <Text size="sm" c="var(--soft)">
          {t.none}
        </Text>
      ) : (
        <Stack gap={2}>
          <Text size="sm" c="var(--soft)" mb={4}>
            {t.lead}
          </Text>
          {TONES.map((tone, index) => {
            const count = found.counts[index] ?? 0;
            return (
              <Link key={tone} to={listPath(period, { tone })} className={classes.row}>
                <Group justify="space-between" gap="xs" wrap="nowrap" mb={4}>
                  <Text size="sm">{names[tone]}</Text>
                  <Text size="sm" c="var(--soft)" style={{ whiteSpace: "nowrap" }}>
                    {format.number(count)} · {format.percent((100 * count) / all)}
                  </Text>
                </Group>
                <div className={classes.bar}>
                  <span data-tone={tone} style={{ inlineSize: `${(100 * count) / all}%` }} />
                </div>
              </Link>
            );
          })}
        </Stack>
      )}
    </Card>
  );
}
