import { Button, Code, CopyButton, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCheck, IconCopy, IconKey } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import { mayAct, session } from "../../app/session";
import { useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Confirm, useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import type { Chat } from "./kinds";
import { settingsTexts } from "./settings-texts";

/** The line for the site, and another key for it. */
export function Snippet({ chat }: { chat: Chat }) {
  const t = useTexts(settingsTexts);
  const failed = useSayFailure();
  const [asking, ask] = useDisclosure();
  const line = `<script src="${session.urls.public}/widget.js" data-widget-key="${chat.public_key}" async></script>`;
  const rotate = useMutation({
    mutationFn: () =>
      read(api.POST("/public/v1/chats/{chat_id}/rotate-key", { params: { path: { chat_id: chat.id } } })),
    onSuccess: () => {
      ask.close();
      sayDone(t.rotated);
    },
    onError: failed,
  });
  return (
    <Card title={t.snippet}>
      <Stack gap="sm">
        <Text size="sm" c="var(--soft)">
          {t.snippetHint}
        </Text>
        <Code block style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
          {line}
        </Code>
        <Group gap="xs">
          <CopyButton value={line}>
            {({ copied, copy }) => (
              <Button
                variant="light"
                onClick={copy}
                leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
              >
                {copied ? t.copied : t.copy}
              </Button>
            )}
          </CopyButton>
          {mayAct("operator") && (
            <Button variant="default" leftSection={<IconKey size={16} aria-hidden />} onClick={ask.open}>
              {t.rotate}
            </Button>
          )}
        </Group>
      </Stack>
      <Confirm
        opened={asking}
        onClose={ask.close}
        title={t.rotateTitle}
        action={t.rotate}
        pending={rotate.isPending}
        onConfirm={() => rotate.mutate()}
      >
        {t.rotateText}
      </Confirm>
    </Card>
  );
}
