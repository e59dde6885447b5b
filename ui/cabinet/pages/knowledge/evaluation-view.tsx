import { Badge, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { IconTrendingDown, IconTrendingUp } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import type { Forms } from "../../i18n/format";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Loaded } from "../../parts/states";
import type { EvaluationDetails } from "./kinds";
import classes from "./knowledge.module.css";

const POLL_MS = 1500;

const texts: Texts<{
  title: string;
  first: string;
  three: string;
  five: string;
  ten: string;
  before: string;
  same: string;
  worse: string;
  better: string;
  rank: (rank: number) => string;
  missed: string;
  stale: string;
  staleCount: Forms;
  running: string;
  failed: string;
}> = {
  en: {
    title: "Result of the run",
    first: "Found first",
    three: "In the first 3",
    five: "In the first 5",
    ten: "In the first 10",
    before: "before",
    same: "as before",
    worse: "Worse than before",
    better: "Better than before",
    rank: (rank) => `Found as no. ${rank}`,
    missed: "Not among the first 10",
    stale: "No such passage any more",
    staleCount: {
      one: "question points to a passage that no document holds any more; it is not counted",
      other: "questions point to passages that no document holds any more; they are not counted",
    },
    running: "The questions are being searched.",
    failed: "The run failed; it can be started again.",
  },
  ru: {
    title: "Результат проверки",
    first: "Сразу первым",
    three: "В первых 3",
    five: "В первых 5",
    ten: "В первых 10",
    before: "было",
    same: "как раньше",
    worse: "Хуже, чем раньше",
    better: "Лучше, чем раньше",
    rank: (rank) => `Найден ${rank}-м`,
    missed: "Нет среди первых 10",
    stale: "Такого отрывка больше нет",
    staleCount: {
      one: "вопрос ссылается на отрывок, которого больше нет; он не учтён",
      few: "вопроса ссылаются на отрывки, которых больше нет; они не учтены",
      many: "вопросов ссылаются на отрывки, которых больше нет; они не учтены",
      other: "вопроса ссылаются на отрывки, которых больше нет; они не учтены",
    },
    running: "Идёт поиск по вопросам.",
    failed: "Проверка не удалась; её можно запустить снова.",
  },
};

/** One run beside the one before it: figures, and which questions got worse. */
export function EvaluationView({ id }: { id: string }) {
  const t = useTexts(texts);
  const run = useQuery({
    queryKey: ["evaluation", id],
    queryFn: () =>
      read(api.GET("/public/v1/kb/evaluations/{evaluation_id}", { params: { path: { evaluation_id: id } } })),
    refetchInterval: (query) =>
      query.state.data?.status === "pending" || query.state.data?.status === "processing" ? POLL_MS : false,
  });
  return (
    <Card title={t.title}>
      <Loaded query={run}>
        {(data) =>
          data.status === "success" ? (
            <Result run={data} />
          ) : (
            <Text c="var(--soft)" role="status">
              {data.status === "error" ? t.failed : t.running}
            </Text>
          )
        }
      </Loaded>
    </Card>
  );
}

function Result({ run }: { run: EvaluationDetails }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { metrics, previous } = run;
  if (!metrics) return null;
  const before = previous?.metrics ?? null;
  const share = (name: string) => [metrics.hit_rate[name] ?? 0, before?.hit_rate[name] ?? null] as const;
  const worse = new Set(run.worse);
  const better = new Set(run.better);
  const order = (id: string) => (worse.has(id) ? 0 : better.has(id) ? 1 : 2);
  const results = [...run.results].sort((a, b) => order(a.question_id) - order(b.question_id));
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }}>
        <Figure name={t.first} now={share("1")[0]} before={share("1")[1]} isShare />
        <Figure name={t.three} now={share("3")[0]} before={share("3")[1]} isShare />
        <Figure name={t.five} now={share("5")[0]} before={share("5")[1]} isShare />
        <Figure name={t.ten} now={share("10")[0]} before={share("10")[1]} isShare />
        <Figure name="MRR" now={metrics.mrr} before={before?.mrr ?? null} />
        <Figure name="nDCG" now={metrics.ndcg} before={before?.ndcg ?? null} />
      </SimpleGrid>
      {metrics.stale > 0 && (
        <Text size="sm" c="var(--soft)">
          {format.count(metrics.stale, t.staleCount)}
        </Text>
      )}
      <div>
        {results.map((result) => (
          <div key={result.question_id} className={classes.row}>
            <Stack gap={2} flex={1} miw={0}>
              <Text>{result.text}</Text>
              <Text size="sm" c="var(--soft)">
                {result.is_stale ? t.stale : result.ranks[0] ? t.rank(result.ranks[0]) : t.missed}
              </Text>
            </Stack>
            {worse.has(result.question_id) && (
              <Badge color="red" variant="light" leftSection={<IconTrendingDown size={14} aria-hidden />} flex="none">
                {t.worse}
              </Badge>
            )}
            {better.has(result.question_id) && (
              <Badge color="green" variant="light" leftSection={<IconTrendingUp size={14} aria-hidden />} flex="none">
                {t.better}
              </Badge>
            )}
          </div>
        ))}
      </div>
    </Stack>
  );
}

interface FigureProps {
  name: string;
  now: number;
  before: number | null;
  isShare?: boolean;
}

function Figure({ name, now, before, isShare = false }: FigureProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const written = (value: number) => (isShare ? format.percent(100 * value) : format.number(value, 3));
  const change = before === null ? 0 : now - before;
  return (
    <div>
      <Text size="xs" c="var(--soft)">
        {name}
      </Text>
      <Group gap={6} align="baseline">
        <Text fz="xl" fw={650}>
          {written(now)}
        </Text>
      </Group>
      {before !== null && (
        <Text
          size="xs"
          c={change < -0.0005 ? "light-dark(#b02525, #ff8787)" : change > 0.0005 ? "green" : "var(--soft)"}
        >
          {Math.abs(change) <= 0.0005 ? t.same : `${t.before} ${written(before)}`}
        </Text>
      )}
    </div>
  );
}
