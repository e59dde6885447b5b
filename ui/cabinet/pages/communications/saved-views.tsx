import { Button, Group, Menu, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBookmark, IconCheck, IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError, api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { mayAct } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";
import { Confirm, useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { useFailureText } from "../../parts/states";
import { type Filters, keyOf } from "./filters";

type View = components["schemas"]["ViewBody"];

const texts: Texts<{
  views: string;
  waiting: string;
  none: string;
  save: string;
  name: string;
  example: string;
  keep: string;
  cancel: string;
  close: string;
  kept: string;
  taken: string;
  remove: (name: string) => string;
  sure: string;
  gone: (name: string) => string;
  action: string;
  first: string;
}> = {
  en: {
    views: "Views",
    waiting: "Loading the views…",
    none: "No saved views yet.",
    save: "Save this view…",
    name: "Name of the view",
    example: "Complaints of this month",
    keep: "Save",
    cancel: "Cancel",
    close: "Close",
    kept: "The view is saved",
    taken: "There is a view of this name.",
    remove: (name) => `Delete the view “${name}”`,
    sure: "Delete this view?",
    gone: (name) => `“${name}” will be gone for everybody in the account. The communications stay.`,
    action: "Delete",
    first: "Set a filter or search first: a view keeps them under a name.",
  },
  ru: {
    views: "Виды",
    waiting: "Виды загружаются…",
    none: "Сохранённых видов пока нет.",
    save: "Сохранить этот вид…",
    name: "Название вида",
    example: "Жалобы за месяц",
    keep: "Сохранить",
    cancel: "Отмена",
    close: "Закрыть",
    kept: "Вид сохранён",
    taken: "Вид с таким названием уже есть.",
    remove: (name) => `Удалить вид «${name}»`,
    sure: "Удалить вид?",
    gone: (name) => `Вид «${name}» исчезнет у всех сотрудников аккаунта. Сами коммуникации останутся.`,
    action: "Удалить",
    first: "Сначала задайте фильтры или поиск: вид сохраняет их под именем.",
  },
};

/** Named sets of filters, kept with the account: one click brings such a list back. */
export function SavedViews({ filters, replace }: { filters: Filters; replace: (values: Filters) => void }) {
  const t = useTexts(texts);
  const failed = useSayFailure();
  const said = useFailureText();
  const [saving, { open, close }] = useDisclosure();
  const [name, setName] = useState("");
  const [leaving, setLeaving] = useState<View | null>(null);
  const views = useQuery({ queryKey: ["views"], queryFn: () => read(api.GET("/public/v1/views")) });
  const save = useMutation({
    mutationFn: () => read(api.POST("/public/v1/views", { body: { name: name.trim(), filters: { ...filters } } })),
    onSuccess: () => {
      sayDone(t.kept);
      setName("");
      close();
    },
  });
  const remove = useMutation({
    mutationFn: (id: string) => read(api.DELETE("/public/v1/views/{view_id}", { params: { path: { view_id: id } } })),
    onSuccess: () => setLeaving(null),
    onError: failed,
  });
  const here = keyOf(filters);
  const saved = views.data?.items ?? [];
  const chosen = saved.find((view) => keyOf(view.filters) === here);
  const without = here ? t.none : t.first;
  const nothing = views.isPending ? t.waiting : views.isError ? said(views.error) : without;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim()) save.mutate();
  };
  const isTaken = save.error instanceof ApiError && save.error.code === "name_taken";
  return (
    <>
      <Menu position="bottom-end" width={300} shadow="md">
        <Menu.Target>
          <Button size="md" variant="default" leftSection={<IconBookmark size={18} aria-hidden />} maw={240}>
            {chosen?.name ?? t.views}
          </Button>
        </Menu.Target>
        {/* Another one for what was opened before it was there, so that the focus is put on the first of it. */}
        <Menu.Dropdown key={String(views.isPending)}>
          {saved.map((view) => (
            <Group key={view.id} gap={0} wrap="nowrap">
              <Menu.Item
                leftSection={view === chosen ? <IconCheck size={16} aria-hidden /> : <span style={{ width: 16 }} />}
                onClick={() => replace(view.filters)}
              >
                <Text size="sm" lineClamp={2}>
                  {view.name}
                </Text>
              </Menu.Item>
              {mayAct("operator") && (
                <Menu.Item
                  w="auto"
                  flex="none"
                  c="dimmed"
                  aria-label={t.remove(view.name)}
                  onClick={() => setLeaving(view)}
                >
                  <IconTrash size={16} aria-hidden style={{ display: "block" }} />
                </Menu.Item>
              )}
            </Group>
          ))}
          {!saved.length && (
            <Menu.Item aria-disabled closeMenuOnClick={false} c="dimmed">
              {nothing}
            </Menu.Item>
          )}
          {here && !chosen && mayAct("operator") && (
            <>
              {saved.length > 0 && <Menu.Divider />}
              <Menu.Item onClick={open}>{t.save}</Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={leaving !== null}
        onClose={() => setLeaving(null)}
        title={t.sure}
        action={t.action}
        pending={remove.isPending}
        onConfirm={() => leaving && remove.mutate(leaving.id)}
      >
        {leaving && t.gone(leaving.name)}
      </Confirm>
      <Modal opened={saving} onClose={close} title={t.save} centered closeButtonProps={{ "aria-label": t.close }}>
        <form onSubmit={submit}>
          <Stack>
            <TextInput
              label={t.name}
              placeholder={t.example}
              value={name}
              maxLength={100}
              data-autofocus
              onChange={(event) => setName(event.currentTarget.value)}
              error={save.isError ? (isTaken ? t.taken : said(save.error)) : null}
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {t.cancel}
              </Button>
              <Button type="submit" loading={save.isPending} disabled={!name.trim()}>
                {t.keep}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
