import { Alert, Anchor, Badge, Button, Group, NumberInput, Stack, Text } from "@mantine/core";
import { IconDownload, IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useNavigate, useParams } from "react-router";
import { api, read } from "../../api/client";
import type { Forms } from "../../i18n/format";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Back } from "../../parts/back";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Loaded } from "../../parts/states";
import { DocumentMenu } from "./document-row";
import { isInWork, type KnowledgeDocument } from "./kinds";
import { Passages } from "./passages";
import { useProblem } from "./problems";

const POLL_MS = 2500;

const texts: Texts<{
  back: string;
  document: string;
  file: string;
  source: string;
  reading: string;
  older: string;
  details: string;
  passages: Forms;
  jump: string;
  go: string;
}> = {
  en: {
    back: "Knowledge",
    document: "Document",
    file: "File",
    source: "Original page",
    reading: "The document is being read; its passages appear here in a moment.",
    older: "The last try to read it anew failed; what is shown is the version before.",
    details: "From the server:",
    passages: { one: "passage", other: "passages" },
    jump: "Passage number",
    go: "Go",
  },
  ru: {
    back: "База знаний",
    document: "Документ",
    file: "Файл",
    source: "Исходная страница",
    reading: "Документ читается; отрывки вот-вот появятся здесь.",
    older: "Прочитать заново не удалось; показана предыдущая версия.",
    details: "Сообщение сервера:",
    passages: { one: "отрывок", few: "отрывка", many: "отрывков", other: "отрывка" },
    jump: "Номер отрывка",
    go: "Перейти",
  },
};

export default function DocumentPage() {
  const { id = "" } = useParams();
  const t = useTexts(texts);
  const document = useQuery({
    queryKey: ["document", id],
    queryFn: () => read(api.GET("/public/v1/kb/documents/{document_id}", { params: { path: { document_id: id } } })),
    refetchInterval: (query) => (query.state.data && isInWork(query.state.data) ? POLL_MS : false),
  });
  if (document.data) return <DocumentView key={id} document={document.data} />;
  return (
    <Page title={t.document} above={<Back to="/knowledge">{t.back}</Back>}>
      <Loaded query={document}>{() => null}</Loaded>
    </Page>
  );
}

/** The passage that the address names, as citations do. */
function useCited(): string | null {
  const { hash } = useLocation();
  return hash.startsWith("#chunk-") ? decodeURIComponent(hash.slice("#chunk-".length)) : null;
}

function DocumentView({ document }: { document: KnowledgeDocument }) {
  const t = useTexts(texts);
  const format = useFormat();
  const go = useNavigate();
  const cited = useCited();
  const [start, setStart] = useState(0);
  const space = useQuery({
    queryKey: ["space", document.space_id],
    queryFn: () =>
      read(api.GET("/public/v1/kb/spaces/{space_id}", { params: { path: { space_id: document.space_id } } })),
  });
  const spacePath = `/knowledge/${document.space_id}`;
  const facts = [
    document.chunk_count > 0 && format.count(document.chunk_count, t.passages),
    document.size_bytes > 0 && format.bytes(document.size_bytes),
    format.moment(document.updated_at),
  ];
  return (
    <Page
      title={document.title}
      lead={facts.filter(Boolean).join(" · ")}
      above={<Back to={spacePath}>{space.data?.name ?? t.back}</Back>}
      actions={
        <>
          {document.url && (
            <Anchor href={document.url} target="_blank" rel="noreferrer noopener" size="sm">
              {t.source}
            </Anchor>
          )}
          <Button
            component="a"
            href={`/public/v1/kb/documents/${document.id}/file`}
            download
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            {t.file}
          </Button>
          <DocumentMenu document={document} onRemoved={() => void go(spacePath)} />
        </>
      }
    >
      <State document={document} />
      {document.chunk_count > 0 && (
        <Card>
          {document.chunk_count > 40 && (
            <Jump
              total={document.chunk_count}
              onJump={(number) => {
                setStart(number - 1);
                void go({ hash: "" }, { replace: true });
              }}
            />
          )}
          <Passages key={cited ?? `from ${start}`} document={document} cited={cited} start={start} />
        </Card>
      )}
    </Page>
  );
}

function State({ document }: { document: KnowledgeDocument }) {
  const t = useTexts(texts);
  const why = useProblem();
  if (isInWork(document)) {
    return (
      <Alert color="blue" variant="light" icon={<IconInfoCircle />} role="status">
        <Group gap="xs">
          {t.reading} <Badge variant="light">{Math.round(document.progress * 100)} %</Badge>
        </Group>
      </Alert>
    );
  }
  if (document.status !== "error") return null;
  return (
    <Alert color="red" variant="light" title={why(document)} role="alert">
      <Stack gap={4}>
        {document.error_message && (
          <Text size="sm">
            {t.details} <span lang="en">{document.error_message}</span>
          </Text>
        )}
        {document.chunk_count > 0 && <Text size="sm">{t.older}</Text>}
      </Stack>
    </Alert>
  );
}

function Jump({ total, onJump }: { total: number; onJump: (number: number) => void }) {
  const t = useTexts(texts);
  const [number, setNumber] = useState<number | string>("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (typeof number === "number") onJump(Math.min(Math.max(1, Math.floor(number)), total));
      }}
    >
      <Group gap="xs" mb="md">
        <NumberInput
          size="xs"
          w={150}
          aria-label={t.jump}
          placeholder={`1–${total}`}
          min={1}
          max={total}
          allowDecimal={false}
          value={number}
          onChange={setNumber}
          hideControls
        />
        <Button size="xs" variant="default" type="submit">
          {t.go}
        </Button>
      </Group>
    </form>
  );
}
