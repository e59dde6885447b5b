import { ActionIcon, Alert, Button, Group, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue, useDisclosure } from "@mantine/hooks";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";
import { useSayFailure } from "../../parts/confirm";
import { useWrongField } from "../../parts/refused-fields";
import { useFailureText } from "../../parts/states";
import type { Question, Space } from "./kinds";
import classes from "./knowledge.module.css";

const texts: Texts<{
  add: string;
  question: string;
  placeholder: string;
  document: string;
  quote: string;
  quoteHint: string;
  save: string;
  cancel: string;
  remove: (text: string) => string;
  any: string;
  gone: string;
}> = {
  en: {
    add: "Add a question",
    question: "Question",
    placeholder: "How long is the warranty?",
    document: "The document that answers it",
    quote: "Words of the right passage",
    quoteHint: "Copied from the document. Left empty, any passage of it counts.",
    save: "Save",
    cancel: "Cancel",
    remove: (text) => `Delete the question: ${text}`,
    any: "Any passage of the document",
    gone: "Its document was deleted: the question counts in no run.",
  },
  ru: {
    add: "Добавить вопрос",
    question: "Вопрос",
    placeholder: "Какая гарантия на кофемашину?",
    document: "Документ с ответом",
    quote: "Слова из верного отрывка",
    quoteHint: "Скопируйте из документа. Если оставить пустым, подойдёт любой его отрывок.",
    save: "Сохранить",
    cancel: "Отмена",
    remove: (text) => `Удалить вопрос: ${text}`,
    any: "Любой отрывок документа",
    gone: "Документ удалён: в проверках вопрос не учитывается.",
  },
};

export function QuestionRow({ question }: { question: Question }) {
  const t = useTexts(texts);
  const failed = useSayFailure();
  const remove = useMutation({
    mutationFn: () =>
      read(api.DELETE("/public/v1/kb/questions/{question_id}", { params: { path: { question_id: question.id } } })),
    onError: failed,
  });
  return (
    <div className={classes.row}>
      <Stack gap={2} flex={1} miw={0}>
        <Text fw={500}>{question.text}</Text>
        <Text size="sm" c={question.document_id ? "dimmed" : "light-dark(#b02525, #ff8787)"} lineClamp={2}>
          {question.document_id ? (question.quote ? `«${question.quote}»` : t.any) : t.gone}
        </Text>
      </Stack>
      {mayAct("operator") && (
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t.remove(question.text)}
          loading={remove.isPending}
          onClick={() => remove.mutate()}
        >
          <IconTrash size={18} />
        </ActionIcon>
      )}
    </div>
  );
}

export function AddQuestion({ space }: { space: Space }) {
  const t = useTexts(texts);
  const [opened, { open, close }] = useDisclosure();
  if (opened) return <Fields space={space} onClose={close} />;
  return (
    <Button variant="default" mt="md" leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      {t.add}
    </Button>
  );
}

function Fields({ space, onClose }: { space: Space; onClose: () => void }) {
  const t = useTexts(texts);
  const said = useFailureText();
  const [text, setText] = useState("");
  const [documentId, setDocumentId] = useState<string | null>(null);
  const [words, setWords] = useState("");
  const [quote, setQuote] = useState("");
  const [title] = useDebouncedValue(words.trim(), 250);
  const path = { space_id: space.id };
  const documents = useQuery({
    queryKey: ["documents", space.id, "to choose", title],
    queryFn: () => {
      const query = { limit: 50, status: "success" as const, ...(title ? { title } : {}) };
      return read(api.GET("/public/v1/kb/spaces/{space_id}/documents", { params: { path, query } }));
    },
    placeholderData: (before) => before,
  });
  const save = useMutation({
    mutationFn: () => {
      const body = { text, document_id: documentId ?? "", ...(quote.trim() ? { quote } : {}) };
      return read(api.POST("/public/v1/kb/spaces/{space_id}/questions", { params: { path }, body }));
    },
    onSuccess: onClose,
  });
  const wrong = useWrongField(save.error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack mt="md" maw={640}>
        <TextInput
          label={t.question}
          placeholder={t.placeholder}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          required
          maxLength={1000}
          error={wrong("text")}
          autoFocus
        />
        <Select
          label={t.document}
          data={(documents.data?.items ?? []).map((each) => ({ value: each.id, label: each.title }))}
          value={documentId}
          onChange={setDocumentId}
          searchValue={words}
          onSearchChange={setWords}
          searchable
          required
          error={wrong("document_id")}
        />
        <Textarea
          label={t.quote}
          description={t.quoteHint}
          value={quote}
          onChange={(event) => setQuote(event.currentTarget.value)}
          autosize
          minRows={2}
          maxRows={8}
          maxLength={4000}
          error={wrong("quote")}
        />
        {save.isError && !wrong("text") && !wrong("document_id") && !wrong("quote") && (
          <Alert color="red" role="alert">
            {said(save.error)}
          </Alert>
        )}
        <Group>
          <Button type="submit" loading={save.isPending}>
            {t.save}
          </Button>
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
