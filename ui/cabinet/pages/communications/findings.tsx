import { Anchor, Badge, Group, Loader, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { hasFeature } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Failure } from "../../parts/states";
import { keyNames } from "./keys";
import { type Details, type Finding, type Item, isOpen, nameOf } from "./kinds";
import classes from "./page.module.css";
import { Quote } from "./quote";
import { turnOf } from "./voices";

const texts: Texts<{
  summary: string;
  report: string;
  commitments: string;
  facts: string;
  memory: string;
  by: (day: string) => string;
  working: string;
  waiting: string;
  failed: string;
  skipped: string;
  of: (name: string) => string;
}> = {
  en: {
    summary: "Summary",
    report: "Your report",
    commitments: "Promised",
    facts: "Facts",
    memory: "Remembered from it",
    by: (day) => `by ${day}`,
    working: "Being analysed…",
    waiting: "The analysis follows the recognition.",
    failed: "The analysis did not succeed. It can be ordered again.",
    skipped: "Not analysed: it was not asked for, or too little was said.",
    of: (name) => `About ${name}`,
  },
  ru: {
    summary: "Резюме",
    report: "Ваш отчёт",
    commitments: "Обещано",
    facts: "Факты",
    memory: "Запомнено из разговора",
    by: (day) => `до ${day}`,
    working: "Анализируется…",
    waiting: "Анализ начнётся после распознавания.",
    failed: "Анализ не удался. Его можно заказать ещё раз.",
    skipped: "Не анализировалось: не просили или сказано слишком мало.",
    of: (name) => `О ком: ${name}`,
  },
};

interface FindingsProps {
  found: Details;
  items: Item[];
  onShow: (idx: number) => void;
}

/** Summary, promises, facts and what is remembered, each with the words it comes from. */
export function Findings({ found, items, onShow }: FindingsProps) {
  const t = useTexts(texts);
  const keys = useTexts(keyNames);
  const status = found.summary_generation_status;
  const learned = useQuery({
    queryKey: ["learned", found.id, found.memory_generation_status],
    enabled: hasFeature("memory") && found.memory_generation_status === "success",
    queryFn: () =>
      read(
        api.GET("/public/v1/communications/{communication_id}/memory", {
          params: { path: { communication_id: found.id } },
        }),
      ),
  });
  const commitments = found.summary_items.filter((each) => each.item_type === "commitment");
  const facts = named(
    found.summary_items.filter((each) => each.item_type === "criteria"),
    keys,
  );
  const names = new Map(found.speakers.map((person) => [person.id, nameOf(person)]));
  const list = (title: string, all: Named[]) =>
    all.length > 0 && (
      <Card title={title}>
        <ul className={classes.findings}>
          {all.map((each) => (
            <One key={each.id} finding={each} items={items} names={names} onShow={onShow} />
          ))}
        </ul>
      </Card>
    );
  const waiting = isOpen(found.transcription_status) ? t.waiting : t.working;
  return (
    <>
      <Card title={t.summary}>
        {isOpen(status) ? (
          <Group gap="sm" role="status">
            <Loader size="xs" aria-hidden />
            <Text size="sm">{waiting}</Text>
          </Group>
        ) : found.summary_text ? (
          <Text className={classes.pre ?? ""}>{found.summary_text}</Text>
        ) : (
          <Text size="sm" c="dimmed">
            {status === "error" ? t.failed : t.skipped}
          </Text>
        )}
      </Card>
      {found.user_summary && (
        <Card title={t.report}>
          <Text className={classes.pre ?? ""}>{found.user_summary}</Text>
        </Card>
      )}
      {list(t.commitments, commitments)}
      {list(t.facts, facts)}
      {list(t.memory, learned.data?.items ?? [])}
      {learned.isError && !learned.data && (
        <Card title={t.memory}>
          <Failure error={learned.error} again={() => void learned.refetch()} />
        </Card>
      )}
    </>
  );
}

type Named = Finding & { label?: string };

/** Facts under the names of their keys; what stands under several of them is told once. */
function named(facts: Named[], keys: Record<string, string>): Named[] {
  const found = new Map<string, Named>();
  for (const fact of facts) {
    const name = fact.subtype ? (keys[fact.subtype] ?? fact.subtype.replaceAll("_", " ")) : "";
    const { label, ...first } = found.get(fact.content) ?? fact;
    found.set(fact.content, { ...first, label: label && name ? `${label}, ${name.toLowerCase()}` : label || name });
  }
  return [...found.values()];
}

interface OneProps {
  finding: Named;
  items: Item[];
  names: Map<string, string>;
  onShow: (idx: number) => void;
}

function One({ finding, items, names, onShow }: OneProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const meta = finding.meta ?? {};
  const quote = typeof meta.quote === "string" ? meta.quote : "";
  const given = typeof meta.idx === "number" ? meta.idx : null;
  const idx = turnOf(items, quote, given);
  const deadline = typeof meta.deadline === "string" ? meta.deadline : "";
  const day = /^\d{4}-\d{2}-\d{2}$/.test(deadline) ? format.date(deadline) : deadline ? format.moment(deadline) : "";
  const name = finding.speaker_id ? names.get(finding.speaker_id) : "";
  const content = (
    <>
      {finding.label && (
        <Text span inherit fw={600}>
          {finding.label}:{" "}
        </Text>
      )}
      {finding.content}
    </>
  );
  const isSaid = quote && quote.replace(/[.!?…]$/, "") !== finding.content.replace(/[.!?…]$/, "");
  return (
    <li>
      {isSaid || idx === null ? (
        <Text size="sm">{content}</Text>
      ) : (
        <Anchor component="button" type="button" size="sm" ta="start" c="inherit" onClick={() => onShow(idx)}>
          {content}
        </Anchor>
      )}
      {(day || name) && (
        <Group gap={6} mt={2}>
          {name && finding.speaker_id && (
            <Anchor component={Link} to={`/people/${finding.speaker_id}`} size="xs" c="dimmed">
              {name}
            </Anchor>
          )}
          {day && (
            <Badge size="sm" variant="light" tt="none" fw={500} className={classes.badge ?? ""}>
              {t.by(day)}
            </Badge>
          )}
        </Group>
      )}
      {isSaid && <Quote text={quote} idx={idx} onShow={onShow} />}
    </li>
  );
}
