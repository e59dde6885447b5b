import { Loader, Table, Text, UnstyledButton } from "@mantine/core";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import type { Evaluation } from "./kinds";

const texts: Texts<{
  when: string;
  questions: string;
  first: string;
  five: string;
  running: string;
  failed: string;
  model: string;
  caption: string;
}> = {
  en: {
    when: "When",
    questions: "Questions",
    first: "Found first",
    five: "In the first 5",
    running: "Running",
    failed: "The run failed; it can be started again.",
    model: "Model",
    caption: "Runs, newest first",
  },
  ru: {
    when: "Когда",
    questions: "Вопросы",
    first: "Сразу первым",
    five: "В первых 5",
    running: "Идёт",
    failed: "Проверка не удалась; её можно запустить снова.",
    model: "Модель",
    caption: "Запуски, новые первыми",
  },
};

interface EvaluationListProps {
  runs: Evaluation[];
  chosen: string | null;
  onChoose: (id: string) => void;
}

/** The runs with their figures; the chosen one is shown below. */
export function EvaluationList({ runs, chosen, onChoose }: EvaluationListProps) {
  const t = useTexts(texts);
  const format = useFormat();
  return (
    <Table.ScrollContainer minWidth={620} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table highlightOnHover verticalSpacing="xs">
        <Table.Caption className="visually-hidden">{t.caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {[t.when, t.questions, t.first, t.five, "MRR", "nDCG", t.model].map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => (
            <Table.Tr key={run.id} {...(run.id === chosen ? { bg: "var(--mantine-primary-color-light)" } : {})}>
              <Table.Td>
                <UnstyledButton
                  onClick={() => onChoose(run.id)}
                  aria-pressed={run.id === chosen}
                  fw={500}
                  fz="sm"
                  td="underline"
                >
                  {format.moment(run.created_at)}
                </UnstyledButton>
                {run.setup?.label && (
                  <Text size="xs" c="var(--soft)">
                    {run.setup.label}
                  </Text>
                )}
              </Table.Td>
              {run.metrics ? (
                <>
                  <Table.Td>{format.number(run.metrics.questions)}</Table.Td>
                  <Table.Td>{format.percent(100 * (run.metrics.hit_rate["1"] ?? 0))}</Table.Td>
                  <Table.Td>{format.percent(100 * (run.metrics.hit_rate["5"] ?? 0))}</Table.Td>
                  <Table.Td>{format.number(run.metrics.mrr, 3)}</Table.Td>
                  <Table.Td>{format.number(run.metrics.ndcg, 3)}</Table.Td>
                </>
              ) : (
                <Table.Td colSpan={5}>
                  {run.status === "error" ? (
                    <Text size="sm" c="light-dark(#b02525, #ff8787)">
                      {t.failed}
                    </Text>
                  ) : (
                    <Loader size="xs" role="status" aria-label={t.running} />
                  )}
                </Table.Td>
              )}
              <Table.Td>
                <Text size="xs" c="var(--soft)" lineClamp={2}>
                  {[run.setup?.embedding_model, run.setup?.reranker_model].filter(Boolean).join(" + ")}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
