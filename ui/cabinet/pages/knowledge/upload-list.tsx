import { Anchor, Button, Group, Progress, Stack, Text } from "@mantine/core";
import { IconAlertCircle, IconCircleCheck } from "@tabler/icons-react";
import { Link } from "react-router";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { useFailureText } from "../../parts/states";
import { useProblem } from "./problems";
import { again, type Upload } from "./uploads";

const texts: Texts<{
  title: string;
  clear: string;
  waiting: string;
  sending: string;
  reading: string;
  done: string;
  again: string;
  progress: (name: string) => string;
}> = {
  en: {
    title: "Uploads",
    clear: "Hide what has ended",
    waiting: "Waiting",
    sending: "Sending",
    reading: "Being read",
    done: "Searchable",
    again: "Try again",
    progress: (name) => `Progress of ${name}`,
  },
  ru: {
    title: "Загрузки",
    clear: "Скрыть завершённые",
    waiting: "Ждёт",
    sending: "Отправляется",
    reading: "Читается",
    done: "Можно искать",
    again: "Повторить",
    progress: (name) => `Ход загрузки: ${name}`,
  },
};

/** How far the files are that were dropped here: sent, read, searchable. */
export function UploadList({ uploads, onClear }: { uploads: Upload[]; onClear: () => void }) {
  const t = useTexts(texts);
  if (!uploads.length) return null;
  const hasEnded = uploads.some((each) => each.state === "done" || each.state === "failed");
  return (
    <Card
      title={t.title}
      actions={
        hasEnded && (
          <Button size="compact-sm" variant="subtle" onClick={onClear}>
            {t.clear}
          </Button>
        )
      }
    >
      <Stack gap="md" aria-live="polite">
        {uploads.map((upload) => (
          <Line key={upload.key} upload={upload} />
        ))}
      </Stack>
    </Card>
  );
}

function Line({ upload }: { upload: Upload }) {
  const t = useTexts(texts);
  const format = useFormat();
  const why = useWhy(upload);
  const { state, document } = upload;
  // Sending is the first half of the way.
  const share = state === "reading" ? 50 + 50 * (document?.progress ?? 0) : state === "done" ? 100 : 50 * upload.sent;
  return (
    <Stack gap={4}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        {document ? (
          <Anchor component={Link} to={`/documents/${document.id}`} size="sm" lineClamp={1}>
            {upload.file.name}
          </Anchor>
        ) : (
          <Text size="sm" lineClamp={1}>
            {upload.file.name}
          </Text>
        )}
        <Group gap={4} wrap="nowrap" flex="none" c={state === "failed" ? "red" : "dimmed"}>
          {state === "done" && <IconCircleCheck size={16} color="var(--mantine-color-green-text)" aria-hidden />}
          {state === "failed" && <IconAlertCircle size={16} aria-hidden />}
          {/* What arrived and was not read is tried again from its row among the documents. */}
          {state === "failed" && !document && (
            <Button size="compact-sm" variant="default" ml={4} onClick={() => again(upload.key)}>
              {t.again}
            </Button>
          )}
          {state !== "failed" && (
            <Text size="sm">
              {t[state]}
              {state === "sending" || state === "reading" ? ` ${format.percent(Math.round(share))}` : ""}
            </Text>
          )}
        </Group>
      </Group>
      {state === "failed" ? (
        <Text size="sm" c="light-dark(#b02525, #ff8787)">
          {why}
        </Text>
      ) : (
        state !== "done" && <Progress value={share} size="sm" aria-label={t.progress(upload.file.name)} />
      )}
    </Stack>
  );
}

function useWhy({ document, error }: Upload): string {
  const why = useProblem();
  const said = useFailureText();
  if (error) return said(error);
  return document ? why(document) : "";
}
