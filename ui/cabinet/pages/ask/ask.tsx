import { Anchor, Button, Group, Pill, Select, Stack, Text } from "@mantine/core";
import { IconEraser, IconLock, IconRobot } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link, useLocation, useNavigate, useSearchParams } from "react-router";
import { ApiError, api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { useTexts } from "../../i18n/language";
import { Page } from "../../parts/page";
import { Empty, Failure, Loaded } from "../../parts/states";
import type { Chat } from "../chats/kinds";
import { useAbout } from "./about";
import { AnswerView } from "./answer";
import classes from "./ask.module.css";
import { Begin } from "./begin";
import { Composer } from "./composer";
import { texts } from "./texts";
import { again, ask, clear, stop, useExchanges } from "./thread";

const CALLS_TOOL = "search_communications";
const seesCalls = (chat: Chat) => chat.tools === null || chat.tools.includes(CALLS_TOOL);

/** Those that answer, the one first that is taken without a word about it. */
function answering(chats: Chat[]): Chat[] {
  const rank = (chat: Chat) => (seesCalls(chat) ? 0 : 2) + (chat.is_default ? 0 : 1);
  return chats.filter((chat) => chat.is_active).sort((one, other) => rank(one) - rank(other));
}

/** Questions to the account's own agent, answered with citations that lead to where it was said. */
export default function AskPage() {
  const t = useTexts(texts);
  const [search] = useSearchParams();
  const id = search.get("about");
  const about = useAbout(id);
  const chats = useQuery({ queryKey: ["chats"], queryFn: () => read(api.GET("/public/v1/chats")) });
  if (!mayAct("operator")) {
    return (
      <Page title={t.title}>
        <Empty icon={<IconLock size={40} stroke={1.4} aria-hidden />} title={t.mayNot}>
          {t.mayNotText}
        </Empty>
      </Page>
    );
  }
  return (
    <Loaded query={chats}>
      {({ items }) => <Talk key={id ?? ""} place={id ?? ""} asked={about} chats={answering(items)} />}
    </Loaded>
  );
}

interface TalkProps {
  place: string;
  asked: ReturnType<typeof useAbout>;
  chats: Chat[];
}

function Talk({ place, asked, chats }: TalkProps) {
  const t = useTexts(texts);
  const go = useNavigate();
  const [search, setSearch] = useSearchParams();
  const { about, error } = asked;
  const { state, pathname, search: query } = useLocation();
  const exchanges = useExchanges(place);
  const chat = chats.find((each) => each.id === search.get("chat")) ?? chats[0];
  const isAsking = exchanges.some((each) => each.state === "asking");
  const send = (question: string) => {
    if (chat && about !== undefined && !isAsking && question.trim())
      ask(place, chat.id, question.trim(), about?.opening ?? []);
  };
  // What was typed elsewhere is asked once: whoever comes back finds its answer.
  const given = (state as { question?: string } | null)?.question;
  const isReady = about !== undefined && chat !== undefined;
  useEffect(() => {
    if (!given || !isReady) return;
    void go(pathname + query, { replace: true, state: null });
    send(given);
  }, [given, isReady]);
  const isGone = error instanceof ApiError && error.status === 404;
  const failure = error !== null && (
    <Stack gap={6} mb={8}>
      {/* What is gone does not come back. */}
      {isGone ? <Failure error={error} /> : <Failure error={error} again={asked.again} />}
      <Anchor component={Link} to="/ask" size="sm">
        {t.leaveAbout}
      </Anchor>
    </Stack>
  );
  const log = useFollowing(exchanges.length, exchanges.at(-1)?.markdown.length ?? 0);
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <>
          {chats.length > 1 && chat && (
            <Select
              aria-label={t.chat}
              allowDeselect={false}
              data={chats.map((each) => ({ value: each.id, label: each.name }))}
              value={chat.id}
              onChange={(value) =>
                setSearch(
                  (old) => {
                    const next = new URLSearchParams(old);
                    next.set("chat", value ?? "");
                    return next;
                  },
                  { replace: true },
                )
              }
            />
          )}
          {exchanges.length > 0 && (
            <Button variant="default" leftSection={<IconEraser size={18} aria-hidden />} onClick={() => clear(place)}>
              {t.startOver}
            </Button>
          )}
        </>
      }
    >
      {chat ? (
        <div className={classes.talk}>
          {chat && !seesCalls(chat) && (
            <Text size="sm" c="var(--soft)" role="status">
              {t.blind(chat.name)}{" "}
              <Anchor component={Link} to={`/chats/${chat.id}`} inherit>
                {t.toSettings}
              </Anchor>
            </Text>
          )}
          {exchanges.length === 0 ? (
            failure || <Begin isAbout={place !== ""} suggestions={place ? [] : chat.suggestions} onAsk={send} />
          ) : (
            <section ref={log} className={classes.log} role="log" aria-label={t.conversation}>
              {exchanges.map((each) => (
                <AnswerView key={each.key} exchange={each} onAgain={() => again(place, each)} />
              ))}
            </section>
          )}
          <div className={classes.dock}>
            {exchanges.length > 0 && failure}
            {about && (
              <Group gap={6} mb={8}>
                <Text size="xs" c="var(--soft)">
                  {t.about}
                </Text>
                <Pill
                  withRemoveButton
                  onRemove={() => void go("/ask")}
                  removeButtonProps={{ "aria-label": t.leaveAbout, tabIndex: 0, "aria-hidden": false }}
                >
                  <Link to={`/communications/${about.id}`} className={classes.about}>
                    {about.name}
                  </Link>
                </Pill>
              </Group>
            )}
            <Composer
              isAbout={place !== ""}
              isAsking={isAsking}
              isReady={isReady}
              onAsk={send}
              onStop={() => stop(place)}
            />
            <Text size="xs" c="var(--soft)" mt={8} className={classes.hint ?? ""}>
              {t.check}
            </Text>
          </div>
        </div>
      ) : (
        <Empty
          icon={<IconRobot size={40} stroke={1.4} aria-hidden />}
          title={t.noChat}
          action={
            <Button component={Link} to="/chats" variant="default">
              {t.toChats}
            </Button>
          }
        >
          {t.noChatText}
        </Empty>
      )}
    </Page>
  );
}

const NEAR_PX = 160;

/** Goes along with what is new: to a question that was asked, and with its answer while its end is in sight. */
function useFollowing(count: number, length: number) {
  const log = useRef<HTMLElement>(null);
  const before = useRef(count);
  useEffect(() => {
    const isNew = count > before.current;
    before.current = count;
    const { scrollHeight } = document.documentElement;
    const isNear = window.innerHeight + window.scrollY > scrollHeight - NEAR_PX;
    if (isNew || (length > 0 && isNear))
      log.current?.lastElementChild?.scrollIntoView({ block: isNew ? "start" : "end" });
  }, [count, length]);
  return log;
}
