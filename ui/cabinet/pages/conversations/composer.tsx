import { ActionIcon, Button, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconArrowBackUp, IconHeadset, IconSend2 } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { api, read } from "../../api/client";
import { session } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";
import { useSayFailure } from "../../parts/confirm";
import { newKey } from "../../parts/new-key";
import classes from "./conversations.module.css";
import type { Conversation } from "./kinds";

const NAME_KEPT = "parley.operator";

const texts: Texts<{
  name: string;
  nameHint: string;
  take: string;
  takeHint: string;
  message: string;
  placeholder: string;
  send: string;
  release: string;
}> = {
  en: {
    name: "Your name",
    nameHint: "The visitor sees it.",
    take: "Take over",
    takeHint: "The agent keeps still from then on, and you answer.",
    message: "Your answer",
    placeholder: "Write to the visitor",
    send: "Send",
    release: "Give back to the agent",
  },
  ru: {
    name: "Ваше имя",
    nameHint: "Его увидит посетитель.",
    take: "Ответить самому",
    takeHint: "С этого момента агент молчит, отвечаете вы.",
    message: "Ваш ответ",
    placeholder: "Напишите посетителю",
    send: "Отправить",
    release: "Вернуть агенту",
  },
};

/** As visitors know whoever sits here. */
function ownName(): string | null {
  return localStorage.getItem(NAME_KEPT) ?? session.person.name;
}

/** Taking the conversation over, answering, giving it back: within reach of a thumb. */
export function Composer({ conversation }: { conversation: Conversation }) {
  return (
    <div className={classes.composer}>
      {conversation.operator_name ? <Answer conversation={conversation} /> : <TakeOver conversation={conversation} />}
    </div>
  );
}

function TakeOver({ conversation }: { conversation: Conversation }) {
  const t = useTexts(texts);
  const failed = useSayFailure();
  const [name, setName] = useState(ownName() ?? "");
  const take = useMutation({
    mutationFn: () => {
      const params = { path: { conversation_id: conversation.id } };
      const body = { operator_name: name.trim() };
      return read(api.POST("/public/v1/conversations/{conversation_id}/takeover", { params, body }));
    },
    onSuccess: () => localStorage.setItem(NAME_KEPT, name.trim()),
    onError: failed,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        take.mutate();
      }}
    >
      <Stack gap="xs">
        <Text size="sm" c="var(--soft)">
          {t.takeHint}
        </Text>
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <TextInput
            label={t.name}
            placeholder={t.nameHint}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            required
            maxLength={200}
            flex={1}
            maw={280}
          />
          <Button type="submit" loading={take.isPending} leftSection={<IconHeadset size={18} aria-hidden />}>
            {t.take}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Answer({ conversation }: { conversation: Conversation }) {
  const t = useTexts(texts);
  const failed = useSayFailure();
  const [text, setText] = useState("");
  // The same words sent again after a broken connection are the same message.
  const key = useRef(newKey());
  const params = { path: { conversation_id: conversation.id } };
  const send = useMutation({
    mutationFn: () =>
      read(
        api.POST("/public/v1/conversations/{conversation_id}/messages", {
          params: { ...params, header: { "Idempotency-Key": key.current } },
          body: { text, operator_name: ownName() || null },
        }),
      ),
    onSuccess: () => {
      key.current = newKey();
      setText("");
    },
    onError: failed,
  });
  const release = useMutation({
    mutationFn: () => read(api.POST("/public/v1/conversations/{conversation_id}/release", { params })),
    onError: failed,
  });
  const submit = () => {
    if (text.trim() && !send.isPending) send.mutate();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="xs">
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <Textarea
            aria-label={t.message}
            placeholder={t.placeholder}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
            }}
            autosize
            minRows={1}
            maxRows={8}
            maxLength={4000}
            flex={1}
          />
          <ActionIcon type="submit" size={42} radius="xl" aria-label={t.send} loading={send.isPending}>
            <IconSend2 size={20} />
          </ActionIcon>
        </Group>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          leftSection={<IconArrowBackUp size={16} aria-hidden />}
          loading={release.isPending}
          onClick={() => release.mutate()}
          w="fit-content"
        >
          {t.release}
        </Button>
      </Stack>
    </form>
  );
}
