import { Alert, Button, Group, Modal, MultiSelect, Stack, Switch, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { api, read } from "../../api/client";
import { hasFeature } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";
import { useWrongField } from "../../parts/refused-fields";
import { useFailureText } from "../../parts/states";
import type { Space } from "./kinds";

const texts: Texts<{
  make: string;
  edit: string;
  name: string;
  namePlaceholder: string;
  description: string;
  descriptionHint: string;
  limit: string;
  limitHint: string;
  chats: string;
  keys: string;
  nobody: string;
  save: string;
  create: string;
  cancel: string;
  close: string;
}> = {
  en: {
    make: "New space",
    edit: "Change the space",
    name: "Name",
    namePlaceholder: "Price lists",
    description: "Description",
    descriptionHint: "Agents read it when they choose where to search.",
    limit: "Only for certain chats and keys",
    limitHint: "For all others the space does not exist. The cabinet sees every space.",
    chats: "Chats",
    keys: "API keys",
    nobody: "With nobody chosen, only the cabinet sees this space.",
    save: "Save",
    create: "Create",
    cancel: "Cancel",
    close: "Close",
  },
  ru: {
    make: "Новый раздел",
    edit: "Изменить раздел",
    name: "Название",
    namePlaceholder: "Прайс-листы",
    description: "Описание",
    descriptionHint: "Агенты читают его, когда выбирают, где искать.",
    limit: "Только для некоторых чатов и ключей",
    limitHint: "Для всех остальных раздела не существует. В кабинете видны все разделы.",
    chats: "Чаты",
    keys: "API-ключи",
    nobody: "Если никого не выбрать, раздел будет виден только в кабинете.",
    save: "Сохранить",
    create: "Создать",
    cancel: "Отмена",
    close: "Закрыть",
  },
};

interface SpaceFormProps {
  opened: boolean;
  onClose: () => void;
  /** The space to change; without one a new one is made. */
  space?: Space;
}

export function SpaceForm({ opened, onClose, space }: SpaceFormProps) {
  const t = useTexts(texts);
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={space ? t.edit : t.make}
      centered
      closeButtonProps={{ "aria-label": t.close }}
    >
      {opened && <Fields {...(space ? { space } : {})} onClose={onClose} />}
    </Modal>
  );
}

function Fields({ space, onClose }: { space?: Space; onClose: () => void }) {
  const t = useTexts(texts);
  const said = useFailureText();
  const go = useNavigate();
  const [name, setName] = useState(space?.name ?? "");
  const [description, setDescription] = useState(space?.description ?? "");
  const [isLimited, setLimited] = useState(Boolean(space?.access));
  const [chatIds, setChatIds] = useState(space?.access?.chat_ids ?? []);
  const [keyIds, setKeyIds] = useState(space?.access?.key_ids ?? []);
  const save = useMutation({
    mutationFn: () => {
      const body = { name, description, access: isLimited ? { chat_ids: chatIds, key_ids: keyIds } : null };
      return read(
        space
          ? api.PATCH("/public/v1/kb/spaces/{space_id}", { params: { path: { space_id: space.id } }, body })
          : api.POST("/public/v1/kb/spaces", { body }),
      );
    },
    onSuccess: (saved) => {
      onClose();
      if (!space) void go(`/knowledge/${saved.id}`);
    },
  });
  useEffect(() => save.reset(), [name, save.reset]);
  const wrong = useWrongField(save.error)("name");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack>
        <TextInput
          label={t.name}
          placeholder={t.namePlaceholder}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          maxLength={200}
          error={wrong}
          data-autofocus
        />
        <Textarea
          label={t.description}
          description={t.descriptionHint}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          maxLength={2000}
          autosize
          minRows={2}
          maxRows={6}
        />
        <Switch
          label={t.limit}
          description={t.limitHint}
          checked={isLimited}
          onChange={(event) => setLimited(event.currentTarget.checked)}
        />
        {isLimited && <Grants chatIds={chatIds} keyIds={keyIds} onChats={setChatIds} onKeys={setKeyIds} />}
        {save.isError && !wrong && (
          <Alert color="red" role="alert">
            {said(save.error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {space ? t.save : t.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface GrantsProps {
  chatIds: string[];
  keyIds: string[];
  onChats: (ids: string[]) => void;
  onKeys: (ids: string[]) => void;
}

function Grants({ chatIds, keyIds, onChats, onKeys }: GrantsProps) {
  const t = useTexts(texts);
  const chats = useQuery({
    queryKey: ["chats"],
    queryFn: () => read(api.GET("/public/v1/chats")),
    enabled: hasFeature("chat"),
  });
  const keys = useQuery({
    queryKey: ["keys", "of spaces"],
    queryFn: () => read(api.GET("/public/v1/keys", { params: { query: { limit: 100 } } })),
  });
  const live = keys.data?.items.filter((key) => !key.revoked_at) ?? [];
  return (
    <Stack gap="sm">
      {hasFeature("chat") && (
        <MultiSelect
          label={t.chats}
          data={(chats.data?.items ?? []).map((chat) => ({ value: chat.id, label: chat.name }))}
          value={chatIds}
          onChange={onChats}
          searchable
          hidePickedOptions
        />
      )}
      <MultiSelect
        label={t.keys}
        data={live.map((key) => ({ value: key.id, label: `${key.name} (${key.prefix}…)` }))}
        value={keyIds}
        onChange={onKeys}
        searchable
        hidePickedOptions
      />
      {!chatIds.length && !keyIds.length && (
        <Alert color="yellow" variant="light">
          {t.nobody}
        </Alert>
      )}
    </Stack>
  );
}
