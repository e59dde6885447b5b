import { Alert, Button, Group, Modal, SegmentedControl, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { Dropzone } from "@mantine/dropzone";
import { useDisclosure } from "@mantine/hooks";
import { IconFileUpload, IconLink } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import { type Texts, useTexts } from "../../i18n/language";
import { useWrongField } from "../../parts/refused-fields";
import { useFailureText } from "../../parts/states";

const MOST_BYTES = 100 * 1024 * 1024;

const texts: Texts<{
  drop: string;
  kinds: string;
  other: string;
  otherTitle: string;
  link: string;
  text: string;
  url: string;
  urlHint: string;
  title: string;
  titleLink: string;
  words: string;
  add: string;
  cancel: string;
  close: string;
}> = {
  en: {
    drop: "Drop files here, or click to choose",
    kinds: "PDF, Word, Excel, PowerPoint, HTML, text, e-books, mails, scans, recordings; up to 100 MB each",
    other: "Add a link or a text",
    otherTitle: "Add a link or a text",
    link: "Link",
    text: "Text",
    url: "Address",
    urlHint: "A public page or file. It is fetched again when you index it again.",
    title: "Title",
    titleLink: "Title, if not the page's own",
    words: "Text",
    add: "Add",
    cancel: "Cancel",
    close: "Close",
  },
  ru: {
    drop: "Перетащите файлы сюда или нажмите, чтобы выбрать",
    kinds: "PDF, Word, Excel, PowerPoint, HTML, текст, электронные книги, письма, сканы, записи; до 100 МБ каждый",
    other: "Добавить ссылку или текст",
    otherTitle: "Добавить ссылку или текст",
    link: "Ссылка",
    text: "Текст",
    url: "Адрес",
    urlHint: "Открытая страница или файл. При переиндексации загружается заново.",
    title: "Название",
    titleLink: "Название, если не брать со страницы",
    words: "Текст",
    add: "Добавить",
    cancel: "Отмена",
    close: "Закрыть",
  },
};

/** Where files are dropped, and the way to links and texts. */
export function AddDocuments({ spaceId, onFiles }: { spaceId: string; onFiles: (files: File[]) => void }) {
  const t = useTexts(texts);
  const [opened, { open, close }] = useDisclosure();
  return (
    <Stack gap="xs">
      <Dropzone onDrop={onFiles} multiple inputProps={{ "aria-label": t.drop }} p="lg" radius="lg">
        <Group justify="center" gap="md" wrap="nowrap" style={{ pointerEvents: "none" }}>
          <IconFileUpload size={32} stroke={1.4} style={{ flex: "none" }} aria-hidden />
          <div>
            <Text fw={600}>{t.drop}</Text>
            <Text size="sm" c="dimmed">
              {t.kinds}
            </Text>
          </div>
        </Group>
      </Dropzone>
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<IconLink size={16} aria-hidden />}
        onClick={open}
        w="fit-content"
      >
        {t.other}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={t.otherTitle}
        size="lg"
        centered
        closeButtonProps={{ "aria-label": t.close }}
      >
        {opened && <LinkOrText spaceId={spaceId} onClose={close} />}
      </Modal>
    </Stack>
  );
}

export const isTooLarge = (file: File) => file.size > MOST_BYTES;

function LinkOrText({ spaceId, onClose }: { spaceId: string; onClose: () => void }) {
  const t = useTexts(texts);
  const said = useFailureText();
  const [kind, setKind] = useState("link");
  const [url, setUrl] = useState("");
  const [title, setTitle] = useState("");
  const [words, setWords] = useState("");
  const add = useMutation({
    mutationFn: () => {
      const named = title.trim() ? { title: title.trim() } : {};
      const body = kind === "link" ? { url: url.trim(), ...named } : { text: words, ...named };
      return read(
        api.POST("/public/v1/kb/spaces/{space_id}/documents", { params: { path: { space_id: spaceId } }, body }),
      );
    },
    onSuccess: onClose,
  });
  const wrong = useWrongField(add.error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <Stack>
        <SegmentedControl
          value={kind}
          onChange={setKind}
          data={[
            { value: "link", label: t.link },
            { value: "text", label: t.text },
          ]}
        />
        {kind === "link" ? (
          <>
            <TextInput
              type="url"
              label={t.url}
              description={t.urlHint}
              placeholder="https://"
              value={url}
              onChange={(event) => setUrl(event.currentTarget.value)}
              required
              maxLength={2000}
              error={wrong("url")}
              data-autofocus
            />
            <TextInput
              label={t.titleLink}
              value={title}
              onChange={(event) => setTitle(event.currentTarget.value)}
              maxLength={300}
            />
          </>
        ) : (
          <>
            <TextInput
              label={t.title}
              value={title}
              onChange={(event) => setTitle(event.currentTarget.value)}
              required
              maxLength={300}
              error={wrong("title")}
            />
            <Textarea
              label={t.words}
              value={words}
              onChange={(event) => setWords(event.currentTarget.value)}
              required
              autosize
              minRows={8}
              maxRows={20}
              maxLength={500_000}
              error={wrong("text")}
            />
          </>
        )}
        {add.isError && !wrong("url") && !wrong("title") && !wrong("text") && (
          <Alert color="red" role="alert">
            {said(add.error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button type="submit" loading={add.isPending}>
            {t.add}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
