import { Alert, Button, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconAlertCircle } from "@tabler/icons-react";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../api/client";
import { type Texts, useTexts } from "../i18n/language";
import classes from "./parts.module.css";
import { refusalCodes } from "./refusal-codes";

const texts: Texts<{
  failed: string;
  offline: string;
  again: string;
  loading: string;
  gone: string;
  refused: string;
  busy: string;
  signedOut: string;
  other: (words: string) => string;
}> = {
  en: {
    failed: "This could not be loaded",
    offline: "The server does not answer. Is the network there?",
    again: "Try again",
    loading: "Loading",
    gone: "It is not there, or not any more.",
    refused: "Your role or your account's features do not allow this.",
    busy: "The server is busy. Try again in a moment.",
    signedOut: "Your session has ended. Sign in again.",
    other: (words) => `The server did not take this: ${words}`,
  },
  ru: {
    failed: "Не удалось загрузить",
    offline: "Сервер не отвечает. Есть ли сеть?",
    again: "Повторить",
    loading: "Загрузка",
    gone: "Здесь этого нет или уже нет.",
    refused: "Ваша роль или возможности аккаунта этого не позволяют.",
    busy: "Сервер занят. Повторите через минуту.",
    signedOut: "Сеанс завершён. Войдите снова.",
    other: (words) => `Сервер этого не принял: ${words}`,
  },
};

/** What went wrong, in words for people. */
export function useFailureText(): (error: unknown) => string {
  const t = useTexts(texts);
  const codes = useTexts(refusalCodes);
  return (error) => {
    if (!(error instanceof ApiError)) return t.offline;
    const byCode = codes[error.code ?? ""];
    if (byCode) return byCode;
    if (error.status === 401) return t.signedOut;
    if (error.status === 404) return t.gone;
    if (error.status === 403) return t.refused;
    if (error.status === 429 || error.status >= 500) return t.busy;
    return t.other(error.message);
  };
}

/** What failed, why, and a way to try again. */
export function Failure({ error, again }: { error: unknown; again?: () => void }) {
  const t = useTexts(texts);
  const said = useFailureText();
  return (
    <Alert color="red" variant="light" title={t.failed} icon={<IconAlertCircle />} role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{said(error)}</Text>
        {again && (
          <Button size="xs" variant="default" onClick={again}>
            {t.again}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

interface EmptyProps {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

/** There is nothing here yet: what will be, and how to begin. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className={classes.empty}>
      {icon}
      <Title order={2} fz="md">
        {title}
      </Title>
      {children && (
        <Text size="sm" maw="30rem">
          {children}
        </Text>
      )}
      {action}
    </div>
  );
}

/** Grey lines in place of what is on its way. */
export function Waiting({ lines = 4, height = 20 }: { lines?: number; height?: number }) {
  const t = useTexts(texts);
  return (
    <Stack gap="sm" role="status" aria-label={t.loading}>
      {Array.from({ length: lines }, (_, index) => (
        <Skeleton key={index} height={height} radius="sm" />
      ))}
    </Stack>
  );
}

interface LoadedProps<T> {
  query: UseQueryResult<T>;
  waiting?: ReactNode;
  children: (data: T) => ReactNode;
}

/** The data of a query, or what to show while it is on its way or where it failed. */
export function Loaded<T>({ query, waiting, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <Failure error={query.error} again={() => void query.refetch()} />;
  return waiting ?? <Waiting />;
}
