import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Texts, useTexts } from "../i18n/language";
import { type Session, session } from "./session";
import { goOn, hideSessionOver } from "./session-end";

const texts: Texts<{
  title: string;
  text: string;
  enter: string;
  ready: string;
  notYet: string;
  close: string;
}> = {
  en: {
    title: "Your session has ended",
    text: "Sign in again in a new tab, then come back here and go on: everything on this page is still as you left it.",
    enter: "Sign in",
    ready: "I have signed in",
    notYet: "There is no session yet. Sign in by the link from the letter, then try once more.",
    close: "Close",
  },
  ru: {
    title: "Сеанс завершён",
    text: "Войдите снова в новой вкладке, вернитесь сюда и продолжайте: всё на этой странице осталось как было.",
    enter: "Войти",
    ready: "Я вошёл",
    notYet: "Сеанса пока нет. Войдите по ссылке из письма и попробуйте ещё раз.",
    close: "Закрыть",
  },
};

/** Whose session the browser has now; null where there is none. */
async function currentSession(): Promise<Session | null> {
  const answer = await fetch("/cabinet", { credentials: "same-origin", cache: "no-store" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return JSON.parse(page.getElementById("session")?.textContent || "null") as Session | null;
}

/** Stands over the page where the session has ended. What was written beneath it waits until there is one again. */
export default function SessionOver() {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [isLooking, setLooking] = useState(false);
  const [isMissing, setMissing] = useState(false);
  const look = async () => {
    setLooking(true);
    const found = await currentSession().catch(() => null);
    setLooking(false);
    setMissing(!found);
    if (!found) return;
    // What is written on this page belongs into this account alone.
    if (found.tenant.id !== session.tenant.id) return window.location.reload();
    goOn();
    void queries.invalidateQueries();
  };
  return (
    <Modal
      opened
      onClose={hideSessionOver}
      title={t.title}
      centered
      zIndex={1000}
      closeButtonProps={{ "aria-label": t.close }}
    >
      <Stack>
        <Text size="sm">{t.text}</Text>
        {isMissing && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {t.notYet}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" loading={isLooking} onClick={() => void look()}>
            {t.ready}
          </Button>
          <Button component="a" href="/cabinet" target="_blank" rel="noopener" data-autofocus>
            {t.enter}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
