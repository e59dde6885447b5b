import { Alert, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import { type Texts, useTexts } from "../../i18n/language";
import { Code } from "../../parts/code";
import { useFailureText } from "../../parts/states";

const texts: Texts<{
  title: string;
  name: string;
  hint: string;
  example: string;
  make: string;
  cancel: string;
  close: string;
  ready: string;
  once: string;
}> = {
  en: {
    title: "New API key",
    name: "What is it for?",
    hint: "By this name you find it in the audit, and end it.",
    example: "CRM, Claude of Anna, site…",
    make: "Make the key",
    cancel: "Cancel",
    close: "Done",
    ready: "The key is ready",
    once: "It is shown this once: copy it now. Who has it may do everything in this account.",
  },
  ru: {
    title: "Новый API-ключ",
    name: "Для чего он?",
    hint: "Под этим именем ключ виден в журнале, по нему его и отзывают.",
    example: "CRM, Claude Анны, сайт…",
    make: "Создать ключ",
    cancel: "Отмена",
    close: "Готово",
    ready: "Ключ готов",
    once: "Он показывается один раз: скопируйте его сейчас. По нему можно всё, что можно в этом аккаунте.",
  },
};

interface NewKeyProps {
  opened: boolean;
  onClose: () => void;
}

/** Makes a key, and shows it the one time that it is seen. */
export function NewKey({ opened, onClose }: NewKeyProps) {
  const t = useTexts(texts);
  const said = useFailureText();
  const [name, setName] = useState("");
  const make = useMutation({
    mutationFn: () => read(api.POST("/public/v1/keys", { body: { name: name.trim() } })),
  });
  const close = () => {
    onClose();
    setName("");
    make.reset();
  };
  const made = make.data;
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={made ? t.ready : t.title}
      centered
      size="lg"
      closeOnClickOutside={!made}
      closeButtonProps={{ "aria-label": t.cancel }}
    >
      {made ? (
        <Stack>
          <Alert color="yellow" variant="light" role="status">
            {t.once}
          </Alert>
          <Code label={made.name} text={made.api_key} />
          <Group justify="flex-end">
            <Button onClick={close}>{t.close}</Button>
          </Group>
        </Stack>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            make.mutate();
          }}
        >
          <Stack>
            <TextInput
              label={t.name}
              description={t.hint}
              placeholder={t.example}
              value={name}
              maxLength={200}
              required
              data-autofocus
              onChange={(event) => setName(event.currentTarget.value)}
            />
            {make.isError && (
              <Text c="red" size="sm" role="alert">
                {said(make.error)}
              </Text>
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {t.cancel}
              </Button>
              <Button type="submit" disabled={!name.trim()} loading={make.isPending}>
                {t.make}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
