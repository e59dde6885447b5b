import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconTrash } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { api, read } from "../../api/client";
import { useTexts } from "../../i18n/language";
import { Confirm, useSayFailure } from "../../parts/confirm";
import { GONE } from "../../parts/unsaved";
import type { Chat } from "./kinds";
import { settingsTexts } from "./settings-texts";

/** Deletes the chat, once that was asked twice. */
export function ChatEnd({ chat }: { chat: Chat }) {
  const t = useTexts(settingsTexts);
  const go = useNavigate();
  const failed = useSayFailure();
  const [asking, ask] = useDisclosure();
  const remove = useMutation({
    mutationFn: () => read(api.DELETE("/public/v1/chats/{chat_id}", { params: { path: { chat_id: chat.id } } })),
    onSuccess: () => void go("/chats", { state: GONE }),
    onError: failed,
  });
  return (
    <>
      <Button
        variant="subtle"
        color="red"
        leftSection={<IconTrash size={16} aria-hidden />}
        onClick={ask.open}
        w="fit-content"
      >
        {t.remove}
      </Button>
      <Confirm
        opened={asking}
        onClose={ask.close}
        title={t.removeTitle}
        action={t.remove}
        pending={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        {t.removeText(chat.name)}
      </Confirm>
    </>
  );
}
