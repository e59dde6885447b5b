import { Group, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFileOff, IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { sayFailed } from "../../parts/notify";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import { AddDocuments, isTooLarge } from "./add-documents";
import { DocumentRow } from "./document-row";
import { isInWork, type Space } from "./kinds";
import { UploadList } from "./upload-list";
import { add, clear, useUploads } from "./uploads";

const LIMIT = 25;
const POLL_MS = 2500;

type Shown = "all" | "working" | "success" | "error";

const texts: Texts<{
  find: string;
  status: string;
  all: string;
  working: string;
  success: string;
  error: string;
  none: string;
  noneText: string;
  nothing: string;
  tooLarge: (name: string) => string;
}> = {
  en: {
    find: "Find by title",
    status: "Which ones",
    all: "All",
    working: "In work",
    success: "Searchable",
    error: "Failed",
    none: "No documents yet",
    noneText: "Drop files above. A minute later they can be searched.",
    nothing: "No document fits",
    tooLarge: (name) => `${name} is larger than 100 MB.`,
  },
  ru: {
    find: "Найти по названию",
    status: "Какие",
    all: "Все",
    working: "В работе",
    success: "Готовы",
    error: "С ошибкой",
    none: "Документов пока нет",
    noneText: "Перетащите файлы сюда. Через минуту по ним можно будет искать.",
    nothing: "Подходящих документов нет",
    tooLarge: (name) => `${name}: больше 100 МБ.`,
  },
};

export function DocumentsTab({ space }: { space: Space }) {
  const t = useTexts(texts);
  const uploads = useUploads(space.id);
  const take = (files: File[]) => {
    for (const file of files.filter(isTooLarge)) sayFailed(t.tooLarge(file.name));
    add(
      space.id,
      files.filter((file) => !isTooLarge(file)),
    );
  };
  return (
    <Stack gap="lg">
      {mayAct("operator") && <AddDocuments spaceId={space.id} onFiles={take} />}
      <UploadList uploads={uploads} onClear={() => clear(space.id)} />
      <DocumentList space={space} />
    </Stack>
  );
}

function DocumentList({ space }: { space: Space }) {
  const t = useTexts(texts);
  const [shown, setShown] = useState<Shown>("all");
  const [words, setWords] = useState("");
  const [title] = useDebouncedValue(words.trim(), 250);
  const [offset, setOffset] = useState(0);
  const documents = useQuery({
    queryKey: ["documents", space.id, shown, title, offset],
    queryFn: () => {
      const query = {
        limit: LIMIT,
        offset,
        ...(shown === "all" ? {} : { status: shown }),
        ...(title ? { title } : {}),
      };
      const params = { path: { space_id: space.id }, query };
      return read(api.GET("/public/v1/kb/spaces/{space_id}/documents", { params }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (query.state.data?.items.some(isInWork) ? POLL_MS : false),
    retry: (tries, error) => tries < 2 && !(error instanceof ApiError && error.status < 500),
  });
  const isFiltered = shown !== "all" || title !== "";
  return (
    <Card>
      <Group justify="space-between" mb="md" gap="sm">
        <TextInput
          placeholder={t.find}
          aria-label={t.find}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={words}
          onChange={(event) => {
            setWords(event.currentTarget.value);
            setOffset(0);
          }}
          maxLength={300}
          w={{ base: "100%", xs: 260 }}
        />
        <SegmentedControl
          size="xs"
          aria-label={t.status}
          value={shown}
          onChange={(value) => {
            setShown(value as Shown);
            setOffset(0);
          }}
          data={(["all", "working", "success", "error"] as const).map((value) => ({ value, label: t[value] }))}
        />
      </Group>
      <Loaded query={documents}>
        {({ items, pagination }) =>
          items.length ? (
            <>
              <Stack gap={0}>
                {items.map((document) => (
                  <DocumentRow key={document.id} document={document} />
                ))}
              </Stack>
              <Pages limit={LIMIT} offset={offset} total={pagination.total} onOffset={setOffset} />
            </>
          ) : (
            <Empty icon={<IconFileOff size={36} stroke={1.4} aria-hidden />} title={isFiltered ? t.nothing : t.none}>
              {isFiltered ? null : t.noneText}
            </Empty>
          )
        }
      </Loaded>
    </Card>
  );
}
