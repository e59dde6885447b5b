import { Anchor, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconHistory, IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { useFormat, useLanguage, useTexts } from "../../i18n/language";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import { AuditDetails } from "./audit-details";
import { actionName, kinds, texts } from "./audit-texts";
import classes from "./settings.module.css";

type Entry = components["schemas"]["AuditRecord"];

const LIMIT = 50;

/** The log of what was done in the account. */
export function Actions() {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const [typed, setTyped] = useState("");
  const [actor] = useDebouncedValue(typed.trim(), 300);
  const [action, setAction] = useState<string | null>(null);
  const [offset, setOffset] = useState(0);
  const query = useQuery({
    queryKey: ["audit", actor, action, offset],
    queryFn: () =>
      read(
        api.GET("/public/v1/audit", {
          params: { query: { limit: LIMIT, offset, ...(actor && { actor }), ...(action && { action }) } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const isFiltered = Boolean(actor || action);
  return (
    <>
      <Group gap="sm" mb="md">
        <TextInput
          aria-label={t.who}
          placeholder={t.who}
          leftSection={<IconSearch size={16} />}
          value={typed}
          maxLength={200}
          w={240}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setOffset(0);
          }}
        />
        <Select
          aria-label={t.what}
          placeholder={t.what}
          clearable
          searchable
          w={240}
          data={Object.entries(kinds[language]).map(([value, label]) => ({ value, label }))}
          value={action}
          onChange={(value) => {
            setAction(value);
            setOffset(0);
          }}
        />
      </Group>
      <Loaded query={query}>
        {({ items, pagination }) =>
          items.length === 0 ? (
            <Empty
              icon={<IconHistory size={36} stroke={1.4} aria-hidden />}
              title={isFiltered ? t.nothing : t.emptyActions}
            />
          ) : (
            <>
              {items.map((entry) => (
                <EntryLine key={entry.id} entry={entry} />
              ))}
              <Pages {...pagination} onOffset={setOffset} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function EntryLine({ entry }: { entry: Entry }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const { moment } = useFormat();
  const place = placeOf(entry);
  return (
    <Group className={classes.line ?? ""} justify="space-between" align="flex-start" gap="xs">
      <Stack gap={2} flex="1 1 18rem" miw={0}>
        <Text size="sm" fw={600}>
          {actionName(entry.action, language)}
        </Text>
        <Text size="sm" c="dimmed">
          {shownActor(entry.actor, t)}
        </Text>
        <AuditDetails entry={entry} />
        {place && (
          <Anchor component={Link} to={place} size="xs">
            {t.open}
          </Anchor>
        )}
      </Stack>
      <Text size="sm" c="dimmed">
        {moment(entry.at)}
      </Text>
    </Group>
  );
}

/** Where what it was done to is shown, by the kind of the action. */
const PLACES: Record<string, string> = {
  chat: "/chats",
  communication: "/communications",
  conversation: "/conversations",
  document: "/documents",
  space: "/knowledge",
  speaker: "/people",
  stream: "/cameras",
};

function placeOf({ action, subject }: Entry): string | null {
  const [kind = "", done] = action.split(".");
  return PLACES[kind] && subject && done !== "deleted" ? `${PLACES[kind]}/${subject}` : null;
}

type ActorTexts = Record<
  "byLink" | "byKey" | "byOperator" | "byPartner" | "byServerStart" | "byRetention" | "byPlatform" | "byProvider",
  string
>;

function shownActor(actor: string, t: ActorTexts): string {
  const programs: Record<string, string> = {
    cabinet: t.byLink,
    operator: t.byOperator,
    platform: t.byPlatform,
    retention: t.byRetention,
    "server start": t.byServerStart,
  };
  if (actor.startsWith("session link")) return t.byLink;
  if (actor.startsWith("cabinet ")) return actor.slice("cabinet ".length);
  if (actor.startsWith("key ")) return `${t.byKey} ${actor.slice("key ".length)}…`;
  if (actor.startsWith("integration ")) return `${t.byPartner} ${actor.slice("integration ".length)}`;
  if (actor.startsWith("payment provider ")) return `${t.byProvider} ${actor.slice("payment provider ".length)}`;
  return programs[actor] ?? actor;
}
