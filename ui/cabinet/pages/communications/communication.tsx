import { Badge, Button, Group, Loader, SegmentedControl, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconMessageQuestion } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "react-router";
import { api, read } from "../../api/client";
import { hasFeature, mayAct } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Back } from "../../parts/back";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Empty, Failure, Loaded, Waiting } from "../../parts/states";
import { Actions } from "./actions";
import { Findings } from "./findings";
import { Corrections, Deliveries } from "./history";
import { categoryName, type Details, headOf, type Item, isInWork, isOpen, kindTexts } from "./kinds";
import classes from "./page.module.css";
import { People } from "./people";
import { Player } from "./player";
import { Quality } from "./quality";
import { Timeline } from "./timeline";
import { usePlayer, type Words } from "./use-player";
import { turnOf, voicesOf } from "./voices";

const POLL_MS = 2000;

const texts: Texts<{
  all: string;
  loading: string;
  recognising: string;
  failed: string;
  failedWhy: string;
  reasons: Record<string, string>;
  silence: string;
  silenceWhy: string;
  conversation: string;
  analysis: string;
  view: string;
  ask: string;
}> = {
  en: {
    all: "Communications",
    loading: "Communication",
    recognising: "The recording is being recognised. The text appears here by itself.",
    failed: "The recording could not be recognised",
    failedWhy: "Nothing was charged for it.",
    reasons: { client_inactive: "The balance did not cover it.", cancelled: "It was cancelled." },
    silence: "Nobody speaks in it",
    silenceWhy: "No speech was found in the recording.",
    conversation: "Conversation",
    analysis: "Analysis",
    view: "What is shown",
    ask: "Ask about it",
  },
  ru: {
    all: "Коммуникации",
    loading: "Коммуникация",
    recognising: "Запись распознаётся. Текст появится здесь сам.",
    failed: "Запись не удалось распознать",
    failedWhy: "Деньги за неё не списаны.",
    reasons: { client_inactive: "На балансе не хватило денег.", cancelled: "Распознавание отменено." },
    silence: "Здесь никто не говорит",
    silenceWhy: "В записи не найдено речи.",
    conversation: "Разговор",
    analysis: "Анализ",
    view: "Что показать",
    ask: "Спросить о нём",
  },
};

export default function CommunicationPage() {
  const { id = "" } = useParams();
  const t = useTexts(texts);
  const found = useQuery({
    queryKey: ["communication", id],
    queryFn: () => read(api.GET("/public/v1/communications", { params: { query: { id } } })),
    refetchInterval: (query) => (query.state.data && isInWork(query.state.data) ? POLL_MS : false),
  });
  const back = <Back to="/communications">{t.all}</Back>;
  if (found.data) return <Conversation key={id} found={found.data} />;
  return (
    <Page title={t.loading} above={back}>
      {found.isError ? (
        <Failure error={found.error} again={() => void found.refetch()} />
      ) : (
        <Loaded query={found} waiting={<Waiting lines={10} height={28} />}>
          {() => null}
        </Loaded>
      )}
    </Page>
  );
}

const NO_ITEMS: Item[] = [];

function Conversation({ found }: { found: Details }) {
  const t = useTexts(texts);
  const kinds = useTexts(kindTexts);
  const format = useFormat();
  const isNarrow = useMediaQuery("(max-width: 62em)") ?? false;
  const [view, setView] = useState<"conversation" | "analysis">("conversation");
  const items = found.content ?? NO_ITEMS;
  const voices = useMemo(() => voicesOf(found, items, kinds.speaker), [found, items, kinds.speaker]);
  const words = useWords(found);
  const player = usePlayer(items, words);
  const toText = useCallback(() => setView("conversation"), []);
  const hasFailed = found.transcription_status === "error";
  const { marked, show } = useMarked(items, toText);
  useDeliveriesOf(found);
  useFollowing(player.place.idx, player.isPlaying);
  // A recording that could not be recognised may still be listened to.
  const hasSound = found.recording !== null && (found.transcription_status === "success" || hasFailed);
  const { seek } = player;
  const listen = useCallback((item: Item) => seek((item.start_ms ?? 0) / 1000, true), [seek]);
  const showAndSeek = useCallback(
    (idx: number) => {
      show(idx);
      const item = items.find((each) => each.idx === idx);
      if (item && item.start_ms !== null) seek(item.start_ms / 1000);
    },
    [show, items, seek],
  );
  const { first, second } = headOf(found);
  const title = first || kinds.kinds[found.kind];
  const about = [
    second,
    found.kind === "call" && found.direction
      ? `${kinds.kinds.call}, ${kinds.directions[found.direction].toLowerCase()}`
      : `${kinds.kinds[found.kind]}${found.kind === "chat" ? `, ${kinds.channels[found.channel_type]}` : ""}`,
    format.moment(found.occured_at),
    found.duration_ms ? format.clock(found.duration_ms / 1000) : "",
    found.request_record_id === title ? "" : found.request_record_id,
  ].filter(Boolean);
  const conversation = (
    <div className={classes.column}>
      {hasSound && <Player found={found} items={items} voices={voices} player={player} />}
      <Card>
        {isOpen(found.transcription_status) ? (
          <Group gap="sm" py="lg" justify="center" role="status">
            <Loader size="sm" aria-hidden />
            <Text>{t.recognising}</Text>
          </Group>
        ) : hasFailed ? (
          <Empty title={t.failed}>
            {t.failedWhy}
            <Reason message={found.transcription_error_message} />
          </Empty>
        ) : items.length ? (
          <Timeline
            id={found.id}
            kind={found.kind}
            items={items}
            voices={voices}
            words={words}
            place={player.place}
            marked={marked}
            onListen={hasSound ? listen : null}
          />
        ) : (
          <Empty title={t.silence}>{t.silenceWhy}</Empty>
        )}
      </Card>
    </div>
  );
  const analysis = (
    <div className={classes.column}>
      <Findings found={found} items={items} onShow={showAndSeek} />
      <Quality found={found} items={items} onShow={showAndSeek} />
      <People found={found} voices={voices} />
      <Corrections id={found.id} analysedAt={found.analysed_at} onShow={showAndSeek} />
      <Deliveries id={found.id} />
    </div>
  );
  return (
    <Page
      title={title}
      above={<Back to="/communications">{t.all}</Back>}
      lead={
        <Group component="span" gap={8}>
          <span>{about.join(" · ")}</span>
          {found.category && (
            <Badge component="span" variant="light" color="gray" tt="none" fw={500} c="var(--mantine-color-text)">
              {categoryName(kinds.categories, found.category, found.category_label)}
            </Badge>
          )}
        </Group>
      }
      actions={
        <>
          {hasFeature("chat") && mayAct("operator") && (
            <Button
              component={Link}
              to={`/ask?about=${found.id}`}
              variant="light"
              leftSection={<IconMessageQuestion size={18} aria-hidden />}
            >
              {t.ask}
            </Button>
          )}
          <Actions found={found} />
        </>
      }
    >
      {isNarrow && (
        <SegmentedControl
          aria-label={t.view}
          fullWidth
          data={[
            { value: "conversation", label: t.conversation },
            { value: "analysis", label: t.analysis },
          ]}
          value={view}
          onChange={(value) => setView(value as typeof view)}
        />
      )}
      <div className={classes.columns}>
        {/* Both stay in the page, so that the recording goes on while the analysis is read. */}
        <div hidden={isNarrow && view !== "conversation"}>{conversation}</div>
        <div hidden={isNarrow && view !== "analysis"}>{analysis}</div>
      </div>
    </Page>
  );
}

/** Why it was not recognised: in our words where they are known, else in the server's. */
function Reason({ message }: { message: string | null }) {
  const t = useTexts(texts);
  if (!message) return null;
  const known = t.reasons[message];
  return (
    <Text span display="block" size="sm" mt={4} {...(known ? {} : { lang: "en", c: "dimmed" })}>
      {known ?? message}
    </Text>
  );
}

const NO_WORDS: Words = {};

function useWords(found: Details): Words {
  const list = useQuery({
    queryKey: ["words", found.id, found.transcription_status],
    enabled: found.transcription_status === "success",
    queryFn: () =>
      read(
        api.GET("/public/v1/communications/{communication_id}/words", {
          params: { path: { communication_id: found.id } },
        }),
      ),
  });
  const items = list.data?.items;
  return useMemo(() => (items ? Object.fromEntries(items.map((each) => [each.idx, each.words])) : NO_WORDS), [items]);
}

/** What was sent to the account's webhook is looked at again whenever a stage has ended: its event goes out then. */
function useDeliveriesOf(found: Details) {
  const queries = useQueryClient();
  const stages = [
    found.transcription_status,
    found.summary_generation_status,
    found.qc_generation_status,
    found.memory_generation_status,
  ].join();
  useEffect(
    () => void queries.invalidateQueries({ queryKey: ["deliveries-of", found.id] }),
    [stages, found.id, queries],
  );
}

/** While the recording plays its text goes along, unless who reads has scrolled elsewhere. */
function useFollowing(idx: number | null, isPlaying: boolean) {
  const before = useRef<number | null>(null);
  useEffect(() => {
    const last = before.current;
    before.current = idx;
    if (!isPlaying || idx === null || last === null || last === idx) return;
    const isSeen = (node: HTMLElement | null) => {
      const box = node?.getBoundingClientRect();
      return box !== undefined && box.bottom > 0 && box.top < window.innerHeight;
    };
    const turn = document.getElementById(`item-${idx}`);
    const box = turn?.getBoundingClientRect();
    const isBelow = box !== undefined && (box.bottom > window.innerHeight - 40 || box.top < 240);
    if (isBelow && isSeen(document.getElementById(`item-${last}`))) {
      const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
      turn?.scrollIntoView({ block: "center", behavior: isCalm ? "auto" : "smooth" });
    }
  }, [idx, isPlaying]);
}

/** The turn that was cited: the one with these words, else the one that is being said at the time. */
function citedTurn(items: Item[], at: number | null, quote: string | null): number | null {
  const later = at === null ? items : items.filter((item) => (item.start_ms ?? 0) >= at);
  // Passages have the name of who speaks before the words.
  for (const words of quote ? [quote.replace(/^[^:]{1,80}:\s+/, ""), quote] : []) {
    const idx = turnOf(later, words) ?? turnOf(items, words);
    if (idx !== null) return idx;
  }
  if (at === null) return null;
  return items.filter((item) => item.start_ms !== null && item.start_ms <= at).at(-1)?.idx ?? null;
}

/** The turn that the address names (`#item-3`, `?item=3`, `?at=12000`, `?quote=words`), or that something on the page
 * led to. */
function useMarked(items: Item[], onShow: () => void) {
  const { hash } = useLocation();
  const [params] = useSearchParams();
  const [marked, setMarked] = useState<number | null>(null);
  const show = useCallback(
    (idx: number) => {
      setMarked(idx);
      onShow();
      requestAnimationFrame(() => {
        const turn = document.getElementById(`item-${idx}`);
        const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
        turn?.scrollIntoView({ block: "center", behavior: isCalm ? "auto" : "smooth" });
        turn?.focus({ preventScroll: true });
      });
    },
    [onShow],
  );
  const named = /^#item-(\d+)$/.exec(hash)?.[1] ?? params.get("item");
  const at = params.get("at");
  const quote = params.get("quote");
  const isThere = items.length > 0;
  // Once for each address, as soon as there is a text.
  useEffect(() => {
    if (!isThere) return;
    if (named !== null && /^\d+$/.test(named)) show(Number(named));
    else {
      const idx = citedTurn(items, at !== null && /^\d+$/.test(at) ? Number(at) : null, quote);
      if (idx !== null) show(idx);
    }
  }, [named, at, quote, isThere]);
  return { marked, show };
}
