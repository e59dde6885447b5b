import { useEffect } from "react";
import { useBlocker } from "react-router";
import { type Texts, useTexts } from "../i18n/language";
import { Confirm } from "./confirm";

const texts: Texts<{ title: string; text: string; leave: string }> = {
  en: { title: "Leave without saving?", text: "What you have changed here is not saved.", leave: "Leave" },
  ru: { title: "Уйти без сохранения?", text: "Ваши изменения не сохранены.", leave: "Уйти" },
};

/** State of a navigation away from what was just deleted: `navigate(to, { state: GONE })` asks nothing. */
export const GONE = { isGone: true };

/** Asks before changes are lost, by a link to another page or by closing this one. */
export function UnsavedGuard({ isChanged }: { isChanged: boolean }) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      isChanged && currentLocation.pathname !== nextLocation.pathname && !nextLocation.state?.isGone,
  );
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isChanged]);
  return (
    <AskToLeave
      opened={blocker.state === "blocked"}
      onStay={() => blocker.reset?.()}
      onLeave={() => blocker.proceed?.()}
    />
  );
}

interface AskToLeaveProps {
  opened: boolean;
  onStay: () => void;
  onLeave: () => void;
}

/** The question before what somebody has changed is lost. */
export function AskToLeave({ opened, onStay, onLeave }: AskToLeaveProps) {
  const t = useTexts(texts);
  return (
    <Confirm opened={opened} onClose={onStay} title={t.title} action={t.leave} onConfirm={onLeave}>
      {t.text}
    </Confirm>
  );
}
