import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { type Texts, useTexts } from "../i18n/language";
import { sayFailed } from "./notify";
import { useFailureText } from "./states";

const texts: Texts<{ cancel: string; close: string }> = {
  en: { cancel: "Cancel", close: "Close" },
  ru: { cancel: "Отмена", close: "Закрыть" },
};

interface ConfirmProps {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** What will be, and what cannot be taken back. */
  children: ReactNode;
  /** The button's words: the thing that is done. */
  action: string;
  danger?: boolean;
  pending?: boolean;
  onConfirm: () => void;
}

/** Asks once more before something that cannot be taken back. */
export function Confirm({ opened, onClose, title, children, action, danger = true, pending, onConfirm }: ConfirmProps) {
  const t = useTexts(texts);
  return (
    <Modal opened={opened} onClose={onClose} title={title} centered closeButtonProps={{ "aria-label": t.close }}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t.cancel}
          </Button>
          <Button {...(danger ? { color: "red" } : {})} loading={pending ?? false} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** For `onError` of a mutation: says what went wrong in words for people. */
export function useSayFailure(): (error: unknown) => void {
  const said = useFailureText();
  return (error) => sayFailed(said(error));
}
