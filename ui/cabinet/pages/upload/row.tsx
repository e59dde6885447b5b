import { ActionIcon, Anchor, Button, Group, Progress, Text } from "@mantine/core";
import { IconAlertCircle, IconCircleCheck, IconFileMusic, IconMessages, IconX } from "@tabler/icons-react";
import { Link } from "react-router";
import { ApiError } from "../../api/client";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { useFailureText } from "../../parts/states";
import classes from "./upload.module.css";
import { again, dismiss, type Upload } from "./uploads";

const texts: Texts<{
  waiting: string;
  sending: string;
  taking: string;
  recognising: string;
  analysing: string;
  done: string;
  imported: (fresh: number, known: number) => string;
  unanalysed: string;
  open: string;
  retry: string;
  dismiss: (name: string) => string;
  tooLarge: string;
  noSound: string;
  noExport: string;
  noMoney: string;
  balance: string;
  full: string;
  inWork: string;
  progress: (name: string) => string;
}> = {
  en: {
    waiting: "Waits for its turn",
    sending: "Being sent",
    taking: "Sent, being looked at",
    recognising: "Being recognised",
    analysing: "Being analysed",
    done: "Ready",
    imported: (fresh, known) => `Conversations taken in: ${fresh}${known ? `, there already: ${known}` : ""}`,
    unanalysed: "The text is there, but its analysis failed. Open it to analyse it again.",
    open: "Open",
    retry: "Try again",
    dismiss: (name) => `Take off the list: ${name}`,
    tooLarge: "The file is too large for this server.",
    noSound: "No sound was found in this file. Is it a recording?",
    noExport: "There is no conversation in this file that can be read.",
    noMoney: "The balance does not cover it.",
    balance: "Top up the balance",
    full: "Too many recordings wait already. Try again in a minute.",
    inWork: "The server is still busy with the first try. Try again in a moment.",
    progress: (name) => `Progress of ${name}`,
  },
  ru: {
    waiting: "Ждёт очереди",
    sending: "Отправляется",
    taking: "Отправлено, проверяется",
    recognising: "Распознаётся",
    analysing: "Анализируется",
    done: "Готово",
    imported: (fresh, known) => `Принято разговоров: ${fresh}${known ? `, уже были: ${known}` : ""}`,
    unanalysed: "Текст готов, но анализ не удался. Откройте разговор, чтобы запустить анализ ещё раз.",
    open: "Открыть",
    retry: "Повторить",
    dismiss: (name) => `Убрать из списка: ${name}`,
    tooLarge: "Файл слишком велик для этого сервера.",
    noSound: "В файле не найдено звука. Это точно запись?",
    noExport: "В файле нет разговора, который можно прочитать.",
    noMoney: "На балансе не хватает денег.",
    balance: "Пополнить баланс",
    full: "Слишком много записей уже ждут. Повторите через минуту.",
    inWork: "Сервер ещё занят первой попыткой. Повторите через минуту.",
    progress: (name) => `Ход: ${name}`,
  },
};

/** One file on its way: sent, recognised, analysed, and then its summary. */
export function UploadRow({ upload }: { upload: Upload }) {
  const t = useTexts(texts);
  const format = useFormat();
  const isOpen = upload.state !== "done" && upload.state !== "failed";
  const isSent = upload.state === "sending" && upload.progress >= 1;
  const said = isSent ? t.taking : upload.state === "failed" || upload.isUnanalysed ? "" : t[upload.state];
  const share = upload.state === "sending" || upload.state === "recognising" ? Math.round(upload.progress * 100) : 100;
  return (
    <li className={classes.file}>
      <span className={classes.icon}>
        {upload.isUnanalysed ? (
          <IconAlertCircle size={22} color="var(--mantine-color-yellow-7)" aria-hidden />
        ) : upload.state === "done" ? (
          <IconCircleCheck size={22} color="var(--mantine-color-green-6)" aria-hidden />
        ) : upload.state === "failed" ? (
          <IconAlertCircle size={22} color="var(--mantine-color-red-6)" aria-hidden />
        ) : upload.isExport ? (
          <IconMessages size={22} stroke={1.6} aria-hidden />
        ) : (
          <IconFileMusic size={22} stroke={1.6} aria-hidden />
        )}
      </span>
      <div className={classes.body}>
        <Group justify="space-between" wrap="nowrap" gap="xs" align="flex-start">
          <div style={{ minInlineSize: 0 }}>
            <Text fw={600} size="sm" lineClamp={2}>
              {upload.name}
            </Text>
            <Text size="xs" c="dimmed">
              {[
                format.bytes(upload.size),
                said,
                isOpen && !isSent && share < 100 && upload.state !== "waiting" ? format.percent(share) : "",
              ]
                .filter(Boolean)
                .join(" · ")}
            </Text>
          </div>
          <Group gap={4} wrap="nowrap">
            {upload.communicationId && upload.state !== "failed" && (
              <Button
                component={Link}
                to={`/communications/${upload.communicationId}`}
                size="compact-sm"
                variant={upload.state === "done" ? "light" : "subtle"}
              >
                {t.open}
              </Button>
            )}
            {upload.state === "failed" && (
              <Button size="compact-sm" variant="default" onClick={() => again(upload.key)}>
                {t.retry}
              </Button>
            )}
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t.dismiss(upload.name)}
              onClick={() => dismiss(upload.key)}
            >
              <IconX size={16} aria-hidden />
            </ActionIcon>
          </Group>
        </Group>
        {isOpen && upload.state !== "waiting" && (
          <Progress
            mt={6}
            size="sm"
            value={share}
            animated={isSent || upload.state === "analysing"}
            aria-label={t.progress(upload.name)}
          />
        )}
        {upload.isExport && upload.state === "done" && (
          <Text size="sm" mt={4}>
            {t.imported(upload.imported, upload.known)}
          </Text>
        )}
        {upload.isUnanalysed && (
          <Text size="sm" mt={4} role="status">
            {t.unanalysed}
          </Text>
        )}
        {upload.state === "done" && !upload.isExport && upload.summary && (
          <Text size="sm" mt={4} lineClamp={4}>
            {upload.summary}
          </Text>
        )}
        {upload.state === "failed" && <Why upload={upload} />}
      </div>
    </li>
  );
}

function Why({ upload }: { upload: Upload }) {
  const t = useTexts(texts);
  const failure = useFailureText();
  const error = upload.error;
  const refused = error instanceof ApiError ? error : null;
  const hasNoMoney = refused?.code === "client_inactive";
  let said: string;
  if (hasNoMoney) said = t.noMoney;
  else if (refused?.status === 413) said = t.tooLarge;
  else if (refused?.status === 429) said = t.full;
  else if (refused?.code === "idempotency_in_progress") said = t.inWork;
  else if (refused?.status === 400 && refused.param === "file") said = upload.isExport ? t.noExport : t.noSound;
  else said = failure(error);
  return (
    <Text size="sm" mt={4} role="alert">
      {said}{" "}
      {hasNoMoney && (
        <Anchor component={Link} to="/balance" inherit>
          {t.balance}
        </Anchor>
      )}
      {refused?.status === 400 && refused.param === "file" && (
        <Text span c="dimmed" size="xs" display="block" lang="en">
          {refused.message}
        </Text>
      )}
    </Text>
  );
}
