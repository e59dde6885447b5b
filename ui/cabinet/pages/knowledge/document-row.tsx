import { ActionIcon, Anchor, Badge, Group, Menu, Progress, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots, IconDownload, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import type { Forms } from "../../i18n/format";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Confirm, useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { isInWork, type KnowledgeDocument } from "./kinds";
import classes from "./knowledge.module.css";
import { useProblem } from "./problems";

const texts: Texts<{
  pending: string;
  processing: string;
  error: string;
  passages: Forms;
  more: (title: string) => string;
  file: string;
  again: string;
  begun: string;
  remove: string;
  removeTitle: string;
  removeText: (title: string) => string;
}> = {
  en: {
    pending: "Waiting",
    processing: "Being read",
    error: "Failed",
    passages: { one: "passage", other: "passages" },
    more: (title) => `More for ${title}`,
    file: "Download the file",
    again: "Read it again",
    begun: "It is being read again.",
    remove: "Delete",
    removeTitle: "Delete this document?",
    removeText: (title) => `“${title}” will be gone for good, and no answer will find it any more.`,
  },
  ru: {
    pending: "Ждёт",
    processing: "Читается",
    error: "Ошибка",
    passages: { one: "отрывок", few: "отрывка", many: "отрывков", other: "отрывка" },
    more: (title) => `Действия: ${title}`,
    file: "Скачать файл",
    again: "Прочитать заново",
    begun: "Документ читается заново.",
    remove: "Удалить",
    removeTitle: "Удалить документ?",
    removeText: (title) => `«${title}» исчезнет навсегда, и ответы больше не найдут его.`,
  },
};

/** One document of a space: what became of it, and what can be done with it. */
export function DocumentRow({ document }: { document: KnowledgeDocument }) {
  const t = useTexts(texts);
  const format = useFormat();
  const why = useProblem();
  return (
    <div className={classes.row}>
      <Stack gap={2} flex={1} miw={0}>
        <Anchor component={Link} to={`/documents/${document.id}`} c="inherit" fw={500} lineClamp={2}>
          {document.title}
        </Anchor>
        <Text size="sm" c="dimmed">
          {[
            document.url && new URL(document.url).host,
            document.size_bytes > 0 && format.bytes(document.size_bytes),
            document.chunk_count > 0 && format.count(document.chunk_count, t.passages),
            format.ago(document.updated_at),
          ]
            .filter(Boolean)
            .join(" · ")}
        </Text>
        {document.status === "error" && (
          <Text size="sm" c="light-dark(#b02525, #ff8787)">
            {why(document)}
          </Text>
        )}
        {isInWork(document) && (
          <Progress value={document.progress * 100} size="xs" mt={4} aria-label={t[document.status as "pending"]} />
        )}
      </Stack>
      {document.status !== "success" && (
        <Badge variant="light" color={document.status === "error" ? "red" : "blue"} flex="none">
          {t[document.status]}
        </Badge>
      )}
      <DocumentMenu document={document} />
    </div>
  );
}

/** Everything that can be done with a document; `onRemoved` where the page should be left afterwards. */
export function DocumentMenu({ document, onRemoved }: { document: KnowledgeDocument; onRemoved?: () => void }) {
  const t = useTexts(texts);
  const failed = useSayFailure();
  const [removing, ask] = useDisclosure();
  const params = { path: { document_id: document.id } };
  const again = useMutation({
    mutationFn: () => read(api.POST("/public/v1/kb/documents/{document_id}/reindex", { params })),
    onSuccess: () => sayDone(t.begun),
    onError: failed,
  });
  const remove = useMutation({
    mutationFn: () => read(api.DELETE("/public/v1/kb/documents/{document_id}", { params })),
    onSuccess: () => {
      ask.close();
      onRemoved?.();
    },
    onError: failed,
  });
  const file = `/public/v1/kb/documents/${document.id}/file`;
  return (
    <Group gap={0} flex="none">
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.more(document.title)}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component="a" href={file} download leftSection={<IconDownload size={16} />}>
            {t.file}
          </Menu.Item>
          {mayAct("operator") && (
            <>
              <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => again.mutate()}>
                {t.again}
              </Menu.Item>
              <Menu.Item leftSection={<IconTrash size={16} />} color="red" onClick={ask.open}>
                {t.remove}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={removing}
        onClose={ask.close}
        title={t.removeTitle}
        action={t.remove}
        pending={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        {t.removeText(document.title)}
      </Confirm>
    </Group>
  );
}
