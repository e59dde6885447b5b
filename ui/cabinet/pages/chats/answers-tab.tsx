import { Anchor, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { IconMoodSmile } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import classes from "./chats.module.css";
import type { Chat } from "./kinds";

const LIMIT = 20;

type Verdict = "unanswered" | "down" | "up";

const texts: Texts<{
  lead: string;
  which: string;
  unanswered: string;
  down: string;
  up: string;
  none: string;
  open: string;
  said: string;
}> = {
  en: {
    lead: "What visitors of your site asked: the questions that nothing was found for, and the answers they voted on. Here you see which document is missing.",
    which: "Which answers",
    unanswered: "Nothing found",
    down: "Not helpful",
    up: "Helpful",
    none: "There is none",
    open: "The conversation",
    said: "The visitor wrote:",
  },
  ru: {
    lead: "О чём спрашивали посетители сайта: вопросы, на которые ничего не нашлось, и ответы, которые они оценили. Здесь видно, какого документа не хватает.",
    which: "Какие ответы",
    unanswered: "Не нашлось",
    down: "Не помогли",
    up: "Помогли",
    none: "Таких нет",
    open: "Диалог",
    said: "Посетитель написал:",
  },
};

/** The chat's answers that say something about its documents. */
export function AnswersTab({ chat }: { chat: Chat }) {
  const t = useTexts(texts);
  const format = useFormat();
  const [verdict, setVerdict] = useState<Verdict>("unanswered");
  const [offset, setOffset] = useState(0);
  const answers = useQuery({
    queryKey: ["judged", chat.id, verdict, offset],
    queryFn: () => {
      const params = { path: { chat_id: chat.id }, query: { verdict, limit: LIMIT, offset } };
      return read(api.GET("/public/v1/chats/{chat_id}/answers", { params }));
    },
    placeholderData: keepPreviousData,
  });
  return (
    <Stack>
      <Text c="var(--soft)" maw="46rem">
        {t.lead}
      </Text>
      <SegmentedControl
        aria-label={t.which}
        value={verdict}
        onChange={(value) => {
          setVerdict(value as Verdict);
          setOffset(0);
        }}
        data={(["unanswered", "down", "up"] as const).map((value) => ({ value, label: t[value] }))}
        w="fit-content"
      />
      <Card>
        <Loaded query={answers}>
          {({ items, pagination }) =>
            items.length ? (
              <>
                {items.map((item) => (
                  <Stack key={item.message_id} gap={4} className={classes.row ?? ""}>
                    <Text fw={500}>{item.question ?? "—"}</Text>
                    <Text size="sm" c="dimmed" lineClamp={3} className={classes.words ?? ""}>
                      {item.answer}
                    </Text>
                    {item.comment && (
                      <Text size="sm">
                        {t.said} “{item.comment}”
                      </Text>
                    )}
                    <Group gap="xs">
                      <Text size="sm" c="dimmed">
                        {format.ago(item.at)}
                      </Text>
                      <Anchor component={Link} to={`/conversations/${item.conversation_id}`} size="sm">
                        {t.open}
                      </Anchor>
                    </Group>
                  </Stack>
                ))}
                <Pages limit={LIMIT} offset={offset} total={pagination.total} onOffset={setOffset} />
              </>
            ) : (
              <Empty icon={<IconMoodSmile size={36} stroke={1.4} aria-hidden />} title={t.none} />
            )
          }
        </Loaded>
      </Card>
    </Stack>
  );
}
