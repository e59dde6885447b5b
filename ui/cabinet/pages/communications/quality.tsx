import { Badge, Group, Loader, Text } from "@mantine/core";
import { IconCheck, IconMinus, IconQuestionMark, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import { hasFeature } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Failure } from "../../parts/states";
import { type Details, type Item, isOpen } from "./kinds";
import classes from "./page.module.css";
import { Quote } from "./quote";
import { scoreColour } from "./row";
import { turnOf } from "./voices";

type Criterion = NonNullable<Details["qc_evaluation"]>["criteria"][number];

const texts: Texts<{
  title: string;
  working: string;
  failed: string;
  met: string;
  missed: string;
  undecided: string;
  none: (names: string) => string;
}> = {
  en: {
    title: "Quality",
    working: "Being evaluated…",
    failed: "The evaluation did not succeed.",
    met: "met",
    missed: "not met",
    undecided: "could not be decided",
    none: (names) => `Does not apply here: ${names}`,
  },
  ru: {
    title: "Качество",
    working: "Оценивается…",
    failed: "Оценка не удалась.",
    met: "выполнено",
    missed: "не выполнено",
    undecided: "не удалось решить",
    none: (names) => `Здесь не применимо: ${names}`,
  },
};

interface QualityProps {
  found: Details;
  items: Item[];
  onShow: (idx: number) => void;
}

/** The verdict on each criterion, with the words that it rests on. */
export function Quality({ found, items, onShow }: QualityProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const evaluation = found.qc_evaluation;
  const catalog = useQuery({
    queryKey: ["qc-scenarios"],
    enabled: hasFeature("qc") && evaluation !== null,
    staleTime: 60_000,
    queryFn: () => read(api.GET("/public/v1/qc/scenarios")),
  });
  const status = found.qc_generation_status;
  if (!evaluation) {
    if (isOpen(status)) {
      return (
        <Card title={t.title}>
          <Group gap="sm" role="status">
            <Loader size="xs" aria-hidden />
            <Text size="sm">{t.working}</Text>
          </Group>
        </Card>
      );
    }
    if (status !== "error") return null;
    return (
      <Card title={t.title}>
        <Text size="sm" c="dimmed">
          {t.failed}
        </Text>
      </Card>
    );
  }
  const scenarios = catalog.data?.items ?? [];
  const scenario = scenarios.find((each) => each.code === evaluation.scenario_code);
  const names = new Map<string, string>();
  for (const each of [...scenarios, ...(scenario ? [scenario] : [])]) {
    for (const criterion of each.criteria) names.set(criterion.code, criterion.name);
  }
  const nameOf = (criterion: Criterion) => names.get(criterion.code) ?? criterion.code.replaceAll("_", " ");
  const rank = (criterion: Criterion) => (criterion.value === false ? 0 : criterion.state === "undecided" ? 1 : 2);
  const shown = evaluation.criteria
    .filter((each) => each.state !== "not_applicable")
    .sort((one, other) => rank(one) - rank(other));
  const others = evaluation.criteria.filter((each) => each.state === "not_applicable");
  return (
    <Card
      title={t.title}
      actions={
        evaluation.score_pct !== null && (
          <Badge variant="dot" size="lg" tt="none" color={scoreColour(evaluation.score_pct)}>
            {format.percent(evaluation.score_pct)}
          </Badge>
        )
      }
    >
      <Text size="sm" c="dimmed" mb="sm">
        {scenario?.name ?? evaluation.scenario_code}
        {evaluation.comment ? ` · ${evaluation.comment}` : ""}
      </Text>
      {catalog.isError && !catalog.data && (
        // The criteria are there all the same, by their codes.
        <Failure error={catalog.error} again={() => void catalog.refetch()} />
      )}
      <ul className={classes.findings}>
        {shown.map((each) => (
          <li key={each.code}>
            <Group gap={8} wrap="nowrap" align="flex-start">
              <Verdict criterion={each} />
              <div style={{ minInlineSize: 0, flex: 1 }}>
                <Text size="sm">
                  {nameOf(each)}
                  {typeof each.value === "number" ? `: ${format.number(each.value, 1)}` : ""}
                </Text>
                <Quote text={each.evidence} idx={turnOf(items, each.evidence, each.idx)} onShow={onShow} />
              </div>
            </Group>
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <Text size="xs" c="dimmed" mt="sm">
          {t.none(others.map(nameOf).join(", "))}
        </Text>
      )}
    </Card>
  );
}

function Verdict({ criterion }: { criterion: Criterion }) {
  const t = useTexts(texts);
  const [Icon, colour, said] =
    criterion.state === "undecided"
      ? ([IconQuestionMark, "var(--soft)", t.undecided] as const)
      : criterion.value === false
        ? ([IconX, "var(--mantine-color-red-6)", t.missed] as const)
        : criterion.value === true
          ? ([IconCheck, "var(--mantine-color-green-6)", t.met] as const)
          : ([IconMinus, "var(--soft)", ""] as const);
  return (
    <>
      <Icon size={18} color={colour} aria-hidden style={{ flex: "none", marginBlockStart: 2 }} />
      <span className="visually-hidden">{said}: </span>
    </>
  );
}
