import { ActionIcon, Badge, Group, Loader, Menu, Text } from "@mantine/core";
import {
  IconDotsVertical,
  IconMail,
  IconMessage,
  IconPhone,
  IconPhoneIncoming,
  IconPhoneOutgoing,
  IconTrash,
} from "@tabler/icons-react";
import { memo } from "react";
import { Link } from "react-router";
import { mayAct } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { headOf, isOpen, kindTexts, type Listed } from "./kinds";
import classes from "./list.module.css";

const texts: Texts<{
  actions: (name: string) => string;
  remove: string;
  recognising: string;
  analysing: string;
  failed: string;
  empty: string;
  score: (score: string) => string;
}> = {
  en: {
    actions: (name) => `Actions: ${name}`,
    remove: "Delete…",
    recognising: "Being recognised",
    analysing: "Being analysed",
    failed: "Not recognised",
    empty: "No text",
    score: (score) => `Quality ${score}`,
  },
  ru: {
    actions: (name) => `Действия: ${name}`,
    remove: "Удалить…",
    recognising: "Распознаётся",
    analysing: "Анализируется",
    failed: "Не распознан",
    empty: "Текста нет",
    score: (score) => `Качество ${score}`,
  },
};

export function KindIcon({ kind, direction, size = 20 }: { kind: string; direction: string | null; size?: number }) {
  if (kind === "email") return <IconMail size={size} stroke={1.7} aria-hidden />;
  if (kind === "chat") return <IconMessage size={size} stroke={1.7} aria-hidden />;
  if (direction === "in") return <IconPhoneIncoming size={size} stroke={1.7} aria-hidden />;
  if (direction === "out") return <IconPhoneOutgoing size={size} stroke={1.7} aria-hidden />;
  return <IconPhone size={size} stroke={1.7} aria-hidden />;
}

export const scoreColour = (score: number) => (score >= 80 ? "green" : score >= 50 ? "yellow" : "red");

interface RowProps {
  found: Listed;
  onDelete: (found: Listed) => void;
}

/** One communication of the list; all of it leads to its page. */
export const Row = memo(function Row({ found, onDelete }: RowProps) {
  const t = useTexts(texts);
  const kinds = useTexts(kindTexts);
  const format = useFormat();
  const { first, second } = headOf(found);
  const title = first || kinds.nobody;
  const start = found.passage?.start_ms;
  const to = `/communications/${found.id}${start === null || start === undefined ? "" : `?at=${start}`}`;
  const text = found.passage?.text ?? found.summary_text ?? found.opening;
  const state = isOpen(found.transcription_status)
    ? t.recognising
    : isOpen(found.summary_generation_status)
      ? t.analysing
      : null;
  return (
    <div className={classes.row}>
      <span className={classes.kind} title={kinds.kinds[found.kind]}>
        <KindIcon kind={found.kind} direction={found.direction} />
      </span>
      <div className={classes.main}>
        <Group gap={8} wrap="wrap" className={classes.head ?? ""}>
          <Link to={to} className={classes.title}>
            <span className="visually-hidden">{kinds.kinds[found.kind]}: </span>
            {title}
          </Link>
          {found.category_label && (
            <Badge size="sm" variant="light" color="gray" tt="none" fw={500} className={classes.badge ?? ""}>
              {found.category ? kinds.categories[found.category as keyof typeof kinds.categories] : ""}
            </Badge>
          )}
          {state && (
            <Badge size="sm" variant="light" tt="none" fw={500} leftSection={<Loader size={10} aria-hidden />}>
              {state}
            </Badge>
          )}
          {found.transcription_status === "error" && (
            <Badge size="sm" variant="light" color="red" tt="none" fw={500}>
              {t.failed}
            </Badge>
          )}
        </Group>
        {second && (
          <Text size="xs" c="var(--soft)" truncate>
            {second}
          </Text>
        )}
        <Text size="sm" c="var(--soft)" lineClamp={2} mt={2}>
          {text ?? (state ? "" : t.empty)}
        </Text>
      </div>
      <div className={classes.side}>
        <Text size="sm" className={classes.when}>
          {format.day(found.occured_at)}
        </Text>
        <Text size="xs" c="dimmed" className={classes.when}>
          {format.time(found.occured_at)}
          {found.duration_ms ? ` · ${format.clock(found.duration_ms / 1000)}` : ""}
        </Text>
        {found.score_pct !== null && (
          <Badge
            size="sm"
            variant="dot"
            color={scoreColour(found.score_pct)}
            tt="none"
            fw={500}
            title={t.score(format.percent(found.score_pct))}
            className={classes.badge ?? ""}
          >
            {format.percent(found.score_pct)}
          </Badge>
        )}
      </div>
      {mayAct("operator") && (
        <Menu position="bottom-end" shadow="md">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" className={classes.more ?? ""} aria-label={t.actions(title)}>
              <IconDotsVertical size={18} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => onDelete(found)}>
              {t.remove}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </div>
  );
});
