import { Button, Loader, Text } from "@mantine/core";
import { IconMessageSearch, IconUpload } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import type { Forms } from "../../i18n/format";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Confirm, useSayFailure } from "../../parts/confirm";
import { isMoreRefused, MoreRefused } from "../../parts/more";
import { sayDone } from "../../parts/notify";
import { Page } from "../../parts/page";
import { Empty, Failure, Waiting } from "../../parts/states";
import { FilterBar } from "./filter-bar";
import { type Filters, keyOf, useFilters } from "./filters";
import { headOf, isOpen, kindTexts, type Listed } from "./kinds";
import classes from "./list.module.css";
import { Row } from "./row";

const PAGE = 50;
const ROW_PX = 92;
const POLL_MS = 5000;

const texts: Texts<{
  title: string;
  lead: string;
  upload: string;
  none: string;
  begin: string;
  nothing: string;
  other: string;
  reset: string;
  best: string;
  found: Forms;
  more: string;
  remove: string;
  sure: (name: string) => string;
  gone: string;
  action: string;
  deleted: string;
}> = {
  en: {
    title: "Communications",
    lead: "Calls, chats and mails: heard, read, summed up.",
    upload: "Upload",
    none: "No conversations yet",
    begin: "Upload a recording or an export of a chat, or connect your telephony by the API.",
    nothing: "Nothing fits",
    other: "Try other words, or fewer filters.",
    reset: "Clear all filters",
    best: "The best matches come first",
    found: { one: "communication", other: "communications" },
    more: "Loading more",
    remove: "Delete this communication?",
    sure: (name) => `${name}: its recording, text, analysis and what was learned from it will be gone. `,
    gone: "This cannot be taken back.",
    action: "Delete",
    deleted: "Deleted",
  },
  ru: {
    title: "Коммуникации",
    lead: "Звонки, чаты и письма: услышаны, прочитаны, разобраны.",
    upload: "Загрузить",
    none: "Разговоров пока нет",
    begin: "Загрузите запись или выгрузку чата, либо подключите телефонию через API.",
    nothing: "Ничего не найдено",
    other: "Попробуйте другие слова или уберите часть фильтров.",
    reset: "Сбросить все фильтры",
    best: "Сначала самые подходящие",
    found: { one: "коммуникация", few: "коммуникации", many: "коммуникаций", other: "коммуникации" },
    more: "Загружается ещё",
    remove: "Удалить коммуникацию?",
    sure: (name) => `${name}: исчезнут запись, текст, анализ и всё, что из неё запомнено. `,
    gone: "Вернуть это нельзя.",
    action: "Удалить",
    deleted: "Удалено",
  },
};

const isInWorkStill = (each: Listed) => isOpen(each.transcription_status) || isOpen(each.summary_generation_status);

function useCommunications(filters: Filters) {
  const { score_from, score_to, answered, replied, ...others } = filters;
  const scores = {
    ...(score_from ? { score_from: Number(score_from) } : {}),
    ...(score_to ? { score_to: Number(score_to) } : {}),
    ...(answered ? { answered: answered === "true" } : {}),
    ...(replied ? { replied: replied === "true" } : {}),
  };
  return useInfiniteQuery({
    queryKey: ["communications", keyOf(filters)],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      read(
        api.GET("/public/v1/communications/search", {
          // Filters come from an address that anybody may have written: the server says which are wrong.
          params: {
            query: { ...others, ...scores, limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } as never,
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
    // Only while nobody has scrolled on: else each of the pages would be asked for again.
    refetchInterval: ({ state: { data } }) =>
      data?.pages.length === 1 && data.pages[0]?.items.some(isInWorkStill) ? POLL_MS : false,
  });
}

export default function CommunicationsPage() {
  const t = useTexts(texts);
  const kinds = useTexts(kindTexts);
  const format = useFormat();
  const inUse = useFilters();
  const list = useCommunications(inUse.filters);
  const failed = useSayFailure();
  const [leaving, setLeaving] = useState<Listed | null>(null);
  const remove = useMutation({
    mutationFn: (id: string) =>
      read(api.DELETE("/public/v1/communications/{communication_id}", { params: { path: { communication_id: id } } })),
    onSuccess: () => {
      sayDone(t.deleted);
      setLeaving(null);
    },
    onError: failed,
  });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const total = list.data?.pages[0]?.total;
  const isFiltered = keyOf(inUse.filters) !== "";
  const askToDelete = useCallback((found: Listed) => setLeaving(found), []);
  const upload = (
    <Button component={Link} to="/upload" leftSection={<IconUpload size={18} aria-hidden />}>
      {t.upload}
    </Button>
  );
  return (
    <Page title={t.title} lead={t.lead} actions={mayAct("operator") ? upload : undefined}>
      <FilterBar {...inUse} />
      <div>
        <Text size="sm" c="dimmed" mb={6} mih={22} role="status">
          {inUse.filters.query && items.length
            ? t.best
            : typeof total === "number" && total > 0
              ? format.count(total, t.found)
              : ""}
        </Text>
        {list.isPending ? (
          <Waiting lines={6} height={72} />
        ) : list.isError && !items.length ? (
          <Failure error={list.error} again={() => void list.refetch()} />
        ) : items.length ? (
          <>
            <Rows
              items={items}
              more={list.hasNextPage}
              isLoading={list.isFetchingNextPage}
              // What was refused is not asked for again by itself.
              onMore={list.isFetchNextPageError ? null : () => void list.fetchNextPage({ cancelRefetch: false })}
              onDelete={askToDelete}
            />
            {isMoreRefused(list) && <MoreRefused list={list} />}
          </>
        ) : isFiltered ? (
          <Empty
            icon={<IconMessageSearch size={40} stroke={1.4} aria-hidden />}
            title={t.nothing}
            action={
              <Button variant="default" onClick={() => inUse.replace({})}>
                {t.reset}
              </Button>
            }
          >
            {t.other}
          </Empty>
        ) : (
          <Empty
            icon={<IconMessageSearch size={40} stroke={1.4} aria-hidden />}
            title={t.none}
            action={mayAct("operator") ? upload : undefined}
          >
            {t.begin}
          </Empty>
        )}
      </div>
      <Confirm
        opened={leaving !== null}
        onClose={() => setLeaving(null)}
        title={t.remove}
        action={t.action}
        pending={remove.isPending}
        onConfirm={() => leaving && remove.mutate(leaving.id)}
      >
        {leaving && t.sure(headOf(leaving).first || kinds.kinds[leaving.kind])}
        {t.gone}
      </Confirm>
    </Page>
  );
}

interface RowsProps {
  items: Listed[];
  more: boolean;
  isLoading: boolean;
  /** Asks for the next page; null where it was refused. */
  onMore: (() => void) | null;
  onDelete: (found: Listed) => void;
}

/** Only what is in sight is in the page, however long the list grows. */
function Rows({ items, more, isLoading, onMore, onDelete }: RowsProps) {
  const t = useTexts(texts);
  const place = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useEffect(() => setTop(place.current?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => ROW_PX,
    overscan: 8,
    scrollMargin: top,
    getItemKey: (index) => items[index]?.id ?? index,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && !isLoading && last >= items.length - 10) onMore?.();
  }, [last, items.length, more, isLoading, onMore]);
  return (
    <>
      <ul ref={place} className={classes.list} style={{ height: rows.getTotalSize() }} aria-label={t.title}>
        {shown.map((each) => {
          const found = items[each.index];
          return found ? (
            <li
              key={each.key}
              data-index={each.index}
              ref={rows.measureElement}
              aria-setsize={more ? -1 : items.length}
              aria-posinset={each.index + 1}
              className={classes.place}
              style={{ transform: `translateY(${each.start - rows.options.scrollMargin}px)` }}
            >
              <Row found={found} onDelete={onDelete} />
            </li>
          ) : null;
        })}
      </ul>
      {isLoading && (
        <Text ta="center" py="md" role="status">
          <Loader size="sm" role="status" aria-label={t.more} />
        </Text>
      )}
    </>
  );
}
