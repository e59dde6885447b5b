import { Anchor, Badge, Checkbox, Group, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { mayAct } from "../../app/session";
import { useFormat, useTexts } from "../../i18n/language";
import { useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { shiftDay, today } from "../overview/period";
import classes from "./promises.module.css";
import { texts } from "./texts";

export type Commitment = components["schemas"]["Commitment"];
const DAY_MS = 86_400_000;
/** The words alone: a promise is often told in those that it was made with. */
const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** One promise: what, by when, by whom, and the words that it was made with. */
export function PromiseRow({ item, withPeople = true }: { item: Commitment; withPeople?: boolean }) {
  const t = useTexts(texts);
  const format = useFormat();
  const sayFailure = useSayFailure();
  const mark = useMutation({
    mutationFn: (done: boolean) =>
      read(
        api.PATCH("/public/v1/commitments/{commitment_id}", {
          params: { path: { commitment_id: item.id } },
          body: { done },
        }),
      ),
    onSuccess: (_, done) => sayDone(done ? t.markedDone : t.markedUndone),
    onError: sayFailure,
  });
  const isDone = mark.isPending ? mark.variables : item.done_at !== null;
  const others = item.people.filter((person) => person.speaker_id !== item.made_by?.speaker_id);
  const source = `/communications/${item.communication.id}${item.idx === null ? "" : `?item=${item.idx}`}`;
  return (
    <article className={classes.row}>
      <Checkbox
        checked={isDone}
        disabled={!mayAct("operator") || mark.isPending}
        aria-label={t.markDone(item.content)}
        onChange={(event) => mark.mutate(event.target.checked)}
        mt={2}
      />
      <div className={classes.what}>
        <Group justify="space-between" gap="xs" align="flex-start">
          <Text fw={600} size="sm" className={classes.content} td={isDone ? "line-through" : undefined}>
            {item.content}
          </Text>
          <Due item={item} />
        </Group>
        {item.quote && plain(item.quote) !== plain(item.content) && (
          <blockquote className={classes.quote}>«{item.quote}»</blockquote>
        )}
        <Group gap={6} mt={4} className={classes.where}>
          {withPeople &&
            (item.made_by ? (
              <Anchor component={Link} to={`/people/${item.made_by.speaker_id}`} size="xs">
                {item.made_by.name || item.made_by.external_id}
              </Anchor>
            ) : (
              <Text size="xs" c="var(--soft)">
                {t.unknownMaker}
              </Text>
            ))}
          {withPeople && others.length > 0 && (
            <Text size="xs" c="var(--soft)">
              {t.to(others.map((person) => person.name || person.external_id).join(", "))}
            </Text>
          )}
          <Anchor component={Link} to={source} size="xs">
            {item.communication.title || t.quote}
          </Anchor>
          <Text size="xs" c="var(--soft)">
            {format.day(item.communication.occured_at)}
          </Text>
        </Group>
        {item.done_at && (
          <Text size="xs" c="var(--soft)" mt={2}>
            {t.doneBy(item.done_by === "cabinet" ? t.you : (item.done_by ?? ""), format.ago(item.done_at))}
          </Text>
        )}
      </div>
    </article>
  );
}

/** When it is due, as people say it. */
function Due({ item }: { item: Commitment }) {
  const t = useTexts(texts);
  const format = useFormat();
  if (!item.due_on) {
    return (
      <Badge variant="default" tt="none">
        {item.deadline_text || t.noDay}
      </Badge>
    );
  }
  const now = today();
  const names: Record<string, string> = {
    [now]: t.due.today,
    [shiftDay(now, 1)]: t.due.tomorrow,
    [shiftDay(now, -1)]: t.due.yesterday,
  };
  const time = item.deadline && item.deadline.length > 10 ? t.at(format.time(item.deadline)) : "";
  const late = Math.round((Date.parse(now) - Date.parse(item.due_on)) / DAY_MS);
  const colour = item.done_at ? "gray" : item.is_overdue ? "red" : item.due_on === now ? "blue" : "green";
  return (
    <Badge
      variant="light"
      color={colour}
      tt="none"
      title={item.is_overdue ? format.count(late, t.late) : (item.deadline_text ?? undefined)}
    >
      {names[item.due_on] ?? format.date(item.due_on)}
      {time}
    </Badge>
  );
}
