import { Button, Stack, Text } from "@mantine/core";
import { IconPlayerPlay, IconTargetArrow } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { useSayFailure } from "../../parts/confirm";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import { EvaluationView } from "./evaluation-view";
import { EvaluationList } from "./evaluations";
import type { Evaluation, Space } from "./kinds";
import { AddQuestion, QuestionRow } from "./questions";

const LIMIT = 25;
const EVALUATIONS = 10;
const POLL_MS = 1500;

const texts: Texts<{
  lead: string;
  run: string;
  questions: string;
  none: string;
  noneText: string;
  runs: string;
}> = {
  en: {
    lead: "Keep the questions that matter together with the passage that each should find. A run searches them all as agents do and counts, so you see what a new document, model or wording changes.",
    run: "Run the tests",
    questions: "Questions",
    none: "No questions yet",
    noneText: "Search this space and mark the right passage, or add a question here.",
    runs: "Runs",
  },
  ru: {
    lead: "Сохраните важные вопросы вместе с отрывками, которые должны находиться. Проверка ищет их все так же, как агенты, и считает результат: видно, что изменили новый документ, модель или формулировка.",
    run: "Запустить проверку",
    questions: "Вопросы",
    none: "Вопросов пока нет",
    noneText: "Найдите ответ во вкладке «Поиск» и отметьте верный отрывок или добавьте вопрос здесь.",
    runs: "Запуски",
  },
};

const isRunning = (run: Evaluation) => run.status === "pending" || run.status === "processing";

/** How well the space's passages are found: its questions, and runs over them. */
export function TestsTab({ space }: { space: Space }) {
  const t = useTexts(texts);
  const failed = useSayFailure();
  const [offset, setOffset] = useState(0);
  const [chosen, setChosen] = useState<string | null>(null);
  const path = { space_id: space.id };
  const questions = useQuery({
    queryKey: ["questions", space.id, offset],
    queryFn: () =>
      read(api.GET("/public/v1/kb/spaces/{space_id}/questions", { params: { path, query: { limit: LIMIT, offset } } })),
  });
  const runs = useQuery({
    queryKey: ["evaluations", space.id],
    queryFn: () =>
      read(api.GET("/public/v1/kb/spaces/{space_id}/evaluations", { params: { path, query: { limit: EVALUATIONS } } })),
    refetchInterval: (query) => (query.state.data?.items.some(isRunning) ? POLL_MS : false),
  });
  const run = useMutation({
    mutationFn: () => read(api.POST("/public/v1/kb/spaces/{space_id}/evaluations", { params: { path }, body: {} })),
    onSuccess: (made) => setChosen(made.id),
    onError: failed,
  });
  const count = questions.data?.pagination.total ?? 0;
  const shown = chosen ?? runs.data?.items[0]?.id ?? null;
  const begin = mayAct("operator") && count > 0 && (
    <Button
      leftSection={<IconPlayerPlay size={16} aria-hidden />}
      loading={run.isPending || (runs.data?.items.some(isRunning) ?? false)}
      onClick={() => run.mutate()}
      flex="none"
    >
      {t.run}
    </Button>
  );
  return (
    <Stack gap="lg">
      <Text c="var(--soft)" maw="46rem">
        {t.lead}
      </Text>
      {runs.data && runs.data.items.length > 0 && (
        <Card title={t.runs} actions={begin}>
          <EvaluationList runs={runs.data.items} chosen={shown} onChoose={setChosen} />
        </Card>
      )}
      {shown && <EvaluationView id={shown} />}
      <Card title={t.questions} actions={!runs.data?.items.length && begin}>
        <Loaded query={questions}>
          {({ items, pagination }) =>
            items.length ? (
              <>
                {items.map((question) => (
                  <QuestionRow key={question.id} question={question} />
                ))}
                <Pages limit={LIMIT} offset={offset} total={pagination.total} onOffset={setOffset} />
              </>
            ) : (
              <Empty icon={<IconTargetArrow size={36} stroke={1.4} aria-hidden />} title={t.none}>
                {t.noneText}
              </Empty>
            )
          }
        </Loaded>
        {mayAct("operator") && <AddQuestion space={space} />}
      </Card>
    </Stack>
  );
}
