import { Alert, Badge, Button, Center, Group, Text, Title } from "@mantine/core";
import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import { ApiError, api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { More } from "../../parts/more";
import { Failure, Waiting } from "../../parts/states";
import type { Chunk, KnowledgeDocument } from "./kinds";
import classes from "./knowledge.module.css";

const LIMIT = 40;

const texts: Texts<{
  earlier: string;
  later: string;
  cited: string;
  changed: string;
  page: (page: number) => string;
}> = {
  en: {
    earlier: "What stands before",
    later: "Go on reading",
    cited: "Cited here",
    changed: "The passage that was cited is not in the document as it is now. This is its beginning.",
    page: (page) => `p. ${page}`,
  },
  ru: {
    earlier: "Что стоит раньше",
    later: "Читать дальше",
    cited: "Цитата отсюда",
    changed: "Процитированного отрывка в нынешней версии документа нет. Показано начало.",
    page: (page) => `стр. ${page}`,
  },
};

type ChunkPage = components["schemas"]["ChunkList"];
type Place = { chunk_id: string } | { offset: number; limit: number };

interface PassagesProps {
  document: KnowledgeDocument;
  /** The passage to open at and to mark. */
  cited: string | null;
  /** The number of the passage to begin with where none is cited. */
  start: number;
}

/** The document's text by passages, from any place in both directions. */
export function Passages({ document, cited, start }: PassagesProps) {
  const t = useTexts(texts);
  const first: Place = cited ? { chunk_id: cited } : { offset: start, limit: LIMIT };
  const found = useInfiniteQuery<ChunkPage, Error, InfiniteData<ChunkPage>, unknown[], Place>({
    queryKey: ["chunks", document.id, document.updated_at, cited ?? start],
    queryFn: async ({ pageParam }) => {
      const params = (place: Place) => ({ path: { document_id: document.id }, query: { limit: LIMIT, ...place } });
      const ask = (place: Place) =>
        read(api.GET("/public/v1/kb/documents/{document_id}/chunks", { params: params(place) }));
      try {
        return await ask(pageParam);
      } catch (error) {
        const isGone = error instanceof ApiError && (error.status === 404 || error.status === 400);
        if (!isGone || !("chunk_id" in pageParam)) throw error;
        return ask({ offset: 0, limit: LIMIT });
      }
    },
    initialPageParam: first,
    getNextPageParam: ({ pagination: { offset, count, total } }) =>
      offset + count < total ? { offset: offset + count, limit: LIMIT } : undefined,
    getPreviousPageParam: ({ pagination: { offset } }) => {
      const before = Math.max(0, offset - LIMIT);
      return offset > 0 ? { offset: before, limit: Math.min(LIMIT, offset) } : undefined;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const chunks = found.data?.pages.flatMap((page) => page.items) ?? [];
  const isThere = !cited || chunks.some((chunk) => chunk.id === cited);
  const more = useSeen(
    () => found.hasNextPage && !found.isFetching && !found.isFetchNextPageError && void found.fetchNextPage(),
    chunks.length,
  );
  const isEarlierRefused = found.isFetchPreviousPageError && !found.isFetchingPreviousPage;
  if (found.isError && !found.data) return <Failure error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting lines={8} />;
  return (
    <>
      {!isThere && (
        <Alert color="yellow" variant="light" mb="md" role="status">
          {t.changed}
        </Alert>
      )}
      {isEarlierRefused && <Failure error={found.error} again={() => void found.fetchPreviousPage()} />}
      {found.hasPreviousPage && !isEarlierRefused && (
        <Center mb="md">
          <Button
            variant="default"
            size="xs"
            loading={found.isFetchingPreviousPage}
            onClick={() => void found.fetchPreviousPage()}
          >
            {t.earlier}
          </Button>
        </Center>
      )}
      {chunks.map((chunk, index) => (
        <Passage key={chunk.id} chunk={chunk} before={chunks[index - 1]} isCited={chunk.id === cited} />
      ))}
      <div ref={more}>
        <More list={found} size="xs">
          {t.later}
        </More>
      </div>
    </>
  );
}

function Passage({ chunk, before, isCited }: { chunk: Chunk; before: Chunk | undefined; isCited: boolean }) {
  const t = useTexts(texts);
  const format = useFormat();
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isCited) return;
    place.current?.scrollIntoView({ block: "center" });
    place.current?.focus({ preventScroll: true });
  }, [isCited]);
  const path = chunk.title_path.join(" › ");
  const isNewPart = path !== "" && path !== before?.title_path.join(" › ");
  return (
    <>
      {isNewPart && (
        <Title order={2} fz="sm" c="var(--soft)" mt="lg" mb={4} px="md">
          {path}
        </Title>
      )}
      <article
        ref={place}
        id={`chunk-${chunk.id}`}
        tabIndex={-1}
        aria-current={isCited ? "location" : undefined}
        className={`${classes.passage} ${isCited ? classes.cited : ""}`}
      >
        <Group gap="xs" mb={2}>
          <Text size="xs" c="var(--soft)" className={classes.place ?? ""}>
            {[
              format.number(chunk.idx + 1),
              chunk.page !== null && t.page(chunk.page),
              chunk.start_ms !== null && format.clock(chunk.start_ms / 1000),
            ]
              .filter(Boolean)
              .join(" · ")}
          </Text>
          {isCited && (
            <Badge size="sm" color="yellow" variant="filled" autoContrast>
              {t.cited}
            </Badge>
          )}
        </Group>
        <div className={classes.words}>{chunk.text}</div>
      </article>
    </>
  );
}

/** A ref whose element calls `onSeen` whenever it comes into view, and where it still is once `length` has grown. */
function useSeen(onSeen: () => void, length: number) {
  const latest = useRef(onSeen);
  latest.current = onSeen;
  const observer = useRef<IntersectionObserver | null>(null);
  return useCallback(
    (node: HTMLElement | null) => {
      observer.current?.disconnect();
      if (!node) return;
      observer.current = new IntersectionObserver(([entry]) => entry?.isIntersecting && latest.current(), {
        rootMargin: "400px",
      });
      observer.current.observe(node);
    },
    [length],
  );
}
