import { Alert, Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, read } from "../../api/client";
import { type Texts, useTexts } from "../../i18n/language";
import { useFailureText } from "../../parts/states";

const texts: Texts<{
  title: string;
  name: string;
  hint: string;
  placeholder: string;
  create: string;
  cancel: string;
  close: string;
}> = {
  en: {
    title: "New chat",
    name: "Name",
    hint: "What visitors see stands in its settings.",
    placeholder: "Shop helper",
    create: "Create",
    cancel: "Cancel",
    close: "Close",
  },
  ru: {
    title: "Новый чат",
    name: "Название",
    hint: "Что видят посетители, задаётся в настройках.",
    placeholder: "Помощник магазина",
    create: "Создать",
    cancel: "Отмена",
    close: "Закрыть",
  },
};

export function NewChat({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts(texts);
  const said = useFailureText();
  const go = useNavigate();
  const [name, setName] = useState("");
  const create = useMutation({
    mutationFn: () => read(api.POST("/public/v1/chats", { body: { name } })),
    onSuccess: (chat) => void go(`/chats/${chat.id}`),
  });
  return (
    <Modal opened={opened} onClose={onClose} title={t.title} centered closeButtonProps={{ "aria-label": t.close }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Stack>
          <TextInput
            label={t.name}
            description={t.hint}
            placeholder={t.placeholder}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            required
            maxLength={200}
            data-autofocus
          />
          {create.isError && (
            <Alert color="red" role="alert">
              {said(create.error)}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {t.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
