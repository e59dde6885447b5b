import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
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
  otherTitle: (name: string) => string;
  otherText: (here: string, there: string) => string;
  open: (name: string) => string;
  back: string;
  notBack: string;
}> = {
  en: {
    title: "Your session has ended",
    text: "Sign in again in a new tab, then come back here and go on: everything on this page is still as you left it.",
    enter: "Sign in",
    ready: "I have signed in",
    notYet: "There is no session yet. Sign in by the link from the letter, then try once more.",
    close: "Close",
    otherTitle: (name) => `This browser is in “${name}” now`,
    otherText: (here, there) =>
      `Another tab has changed over to “${there}”, and this page belongs to “${here}”: nothing was changed in either. Change back in the other tab and go on here, or open “${there}” in this one; what is half written here is lost then.`,
    open: (name) => `Open “${name}”`,
    back: "I have changed back",
    notBack: "It is still the other account.",
  },
  ru: {
    title: "Сеанс завершён",
    text: "Войдите снова в новой вкладке, вернитесь сюда и продолжайте: всё на этой странице осталось как было.",
    enter: "Войти",
    ready: "Я вошёл",
    notYet: "Сеанса пока нет. Войдите по ссылке из письма и попробуйте ещё раз.",
    close: "Закрыть",
    otherTitle: (name) => `Сейчас в браузере открыт ${name}`,
    otherText: (here, there) =>
      `В другой вкладке выбран аккаунт ${there}, а эта страница относится к аккаунту ${here}: ни там, ни здесь ничего не изменено. Вернитесь в него в той вкладке и продолжайте здесь — или откройте новый и здесь, тогда незаконченное на этой странице пропадёт.`,
    open: (name) => `Открыть ${name}`,
    back: "Аккаунт возвращён",
    notBack: "Пока открыт другой аккаунт.",
  },
};

/** Whose session the browser has now; null where there is none. */
async function currentSession(): Promise<Session | null> {
  const answer = await fetch("/cabinet", { credentials: "same-origin", cache: "no-store" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return JSON.parse(page.getElementById("session")?.textContent || "null") as Session | null;
}

/** Stands over the page where its session has ended, or where another tab has changed over to another account. What was
 * written beneath it waits until there is a session of this account again. */
export default function SessionOver() {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [isLooking, setLooking] = useState(false);
  const [other, setOther] = useState<string | null>(null);
  const [hasTried, setTried] = useState(false);
  const look = useCallback(
    async (isTry: boolean) => {
      setLooking(true);
      const found = await currentSession().catch(() => null);
      setLooking(false);
      setTried(isTry);
      // What is written on this page belongs into this account alone.
      const isOther = found !== null && found.tenant.id !== session.tenant.id;
      setOther(isOther ? found.tenant.name : null);
      if (!found || isOther) return;
      goOn();
      void queries.invalidateQueries();
    },
    [queries],
  );
  useEffect(() => void look(false), [look]);
  return (
    <Modal
      opened
      onClose={hideSessionOver}
      title={other === null ? t.title : t.otherTitle(other)}
      centered
      zIndex={1000}
      closeButtonProps={{ "aria-label": t.close }}
    >
      <Stack>
        <Text size="sm">{other === null ? t.text : t.otherText(session.tenant.name, other)}</Text>
        {hasTried && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {other === null ? t.notYet : t.notBack}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" loading={isLooking} onClick={() => void look(true)}>
            {other === null ? t.ready : t.back}
          </Button>
          {other === null ? (
            <Button component="a" href="/cabinet" target="_blank" rel="noopener" data-autofocus>
              {t.enter}
            </Button>
          ) : (
            <Button component="a" href="/cabinet" data-autofocus>
              {t.open(other)}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
