import { Badge, Button, Group, Stack, Switch, Text } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { ApiError, api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { mayAct } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Confirm, useSayFailure } from "../../parts/confirm";
import { sayDone, sayFailed } from "../../parts/notify";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import { SettingsPage } from "./frame";
import { NewKey } from "./new-key";
import classes from "./settings.module.css";

type Key = components["schemas"]["KeyRecord"];

const LIMIT = 50;

const texts: Texts<{
  title: string;
  lead: string;
  make: string;
  empty: string;
  ended: string;
  partner: string;
  made: string;
  endedAt: string;
  end: string;
  endTitle: string;
  endText: (name: string) => string;
  last: string;
  done: string;
  showEnded: string;
  allSpaces: string;
  someSpaces: (names: string) => string;
  spaces: string;
}> = {
  en: {
    title: "API keys",
    lead: "Programs and agents work by a key. One key for each, so that each can be ended by itself.",
    make: "New key",
    empty: "There is no key yet",
    ended: "Ended",
    partner: "Made by your partner",
    made: "made",
    endedAt: "ended",
    end: "End",
    endTitle: "End this key?",
    endText: (name) => `What works by “${name}” is refused from now on. A key cannot be taken up again.`,
    last: "This is the account's last key: make another one first.",
    done: "The key is ended",
    showEnded: "Show ended keys",
    allSpaces: "Sees all open spaces",
    someSpaces: (names) => `Limited spaces that it sees: ${names}`,
    spaces: "Limit spaces to keys",
  },
  ru: {
    title: "API-ключи",
    lead: "Программы и агенты работают по ключу. Заведите каждому свой, чтобы любой можно было отозвать отдельно.",
    make: "Новый ключ",
    empty: "Ключей пока нет",
    ended: "Отозван",
    partner: "Создан партнёром",
    made: "создан",
    endedAt: "отозван",
    end: "Отозвать",
    endTitle: "Отозвать ключ?",
    endText: (name) => `Всё, что работает по ключу «${name}», сразу получит отказ. Вернуть ключ нельзя.`,
    last: "Это последний ключ аккаунта: сначала создайте другой.",
    done: "Ключ отозван",
    showEnded: "Показать отозванные",
    allSpaces: "Видит все открытые разделы",
    someSpaces: (names) => `Видит закрытые разделы: ${names}`,
    spaces: "Ограничить разделы ключами",
  },
};

export default function SettingsKeys() {
  const t = useTexts(texts);
  const [making, setMaking] = useState(false);
  const [showsEnded, setShowsEnded] = useState(false);
  const [offset, setOffset] = useState(0);
  const keys = useQuery({
    queryKey: ["keys", offset],
    queryFn: () => read(api.GET("/public/v1/keys", { params: { query: { limit: LIMIT, offset } } })),
    placeholderData: keepPreviousData,
  });
  const spaces = useSpacesOfKeys();
  return (
    <SettingsPage
      title={t.title}
      lead={t.lead}
      actions={
        mayAct("owner") && (
          <Button leftSection={<IconPlus size={18} />} onClick={() => setMaking(true)}>
            {t.make}
          </Button>
        )
      }
    >
      <NewKey opened={making} onClose={() => setMaking(false)} />
      <Card>
        <Loaded query={keys}>
          {({ items, pagination }) => {
            const ended = items.some((key) => key.revoked_at);
            const shown = items.filter((key) => showsEnded || !key.revoked_at);
            return (
              <>
                {shown.length === 0 && <Empty icon={<IconKey size={36} stroke={1.4} aria-hidden />} title={t.empty} />}
                {shown.map((key) => (
                  <KeyLine key={key.id} of={key} spaces={spaces(key.id)} />
                ))}
                <Group justify="space-between" mt="md">
                  {ended && (
                    <Switch
                      size="sm"
                      label={t.showEnded}
                      checked={showsEnded}
                      onChange={(event) => setShowsEnded(event.currentTarget.checked)}
                    />
                  )}
                  <Text size="sm" component={Link} to="/knowledge" c="var(--mantine-color-anchor)">
                    {t.spaces}
                  </Text>
                </Group>
                <Pages {...pagination} onOffset={setOffset} />
              </>
            );
          }}
        </Loaded>
      </Card>
    </SettingsPage>
  );
}

function KeyLine({ of, spaces }: { of: Key; spaces: string[] }) {
  const t = useTexts(texts);
  const { day } = useFormat();
  const sayFailure = useSayFailure();
  const [asking, setAsking] = useState(false);
  const end = useMutation({
    mutationFn: () => read(api.DELETE("/public/v1/keys/{key_id}", { params: { path: { key_id: of.id } } })),
    onSuccess: () => sayDone(t.done),
    onError: (error) =>
      error instanceof ApiError && error.code === "last_key" ? sayFailed(t.last) : sayFailure(error),
    onSettled: () => setAsking(false),
  });
  return (
    <Group className={classes.line ?? ""} justify="space-between" align="flex-start" gap="sm">
      <Stack gap={2} flex="1 1 14rem" miw={0}>
        <Group gap="xs">
          <Text fw={600} size="sm">
            {of.name}
          </Text>
          {of.revoked_at && (
            <Badge color="gray" variant="light" tt="none">
              {t.ended}
            </Badge>
          )}
          {of.issuer === "integration" && (
            <Badge variant="outline" color="gray" tt="none">
              {t.partner}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed">
          <code>{of.prefix}…</code> · {t.made} {day(of.created_at)}
          {of.revoked_at && ` · ${t.endedAt} ${day(of.revoked_at)}`}
        </Text>
        {!of.revoked_at && (
          <Text size="xs" c="dimmed">
            {spaces.length > 0 ? t.someSpaces(spaces.join(", ")) : t.allSpaces}
          </Text>
        )}
      </Stack>
      {!of.revoked_at && mayAct("owner") && (
        <Button size="xs" variant="default" onClick={() => setAsking(true)} aria-label={`${t.end}: ${of.name}`}>
          {t.end}
        </Button>
      )}
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={t.endTitle}
        action={t.end}
        pending={end.isPending}
        onConfirm={() => end.mutate()}
      >
        {t.endText(of.name)}
      </Confirm>
    </Group>
  );
}

/** The names of the limited spaces that a key sees, by its id. */
function useSpacesOfKeys(): (keyId: string) => string[] {
  const query = useQuery({
    queryKey: ["spaces", "access"],
    queryFn: () => read(api.GET("/public/v1/kb/spaces", { params: { query: { limit: 100 } } })),
  });
  const spaces = query.data?.items ?? [];
  return (keyId) => spaces.filter((space) => space.access?.key_ids?.includes(keyId)).map((space) => space.name);
}
