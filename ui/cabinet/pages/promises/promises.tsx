import { Button, Group, Select, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconChecklist, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { api, read } from "../../api/client";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Pages } from "../../parts/pages";
import { Empty, Loaded, Waiting } from "../../parts/states";
import { Maker } from "./maker";
import { Narrowed } from "./narrowed";
import classes from "./promises.module.css";
import { PromiseRow } from "./row";
import { STATES, type State, texts } from "./texts";

const LIMIT = 50;
const WAIT_MS = 250;
const SIDES = ["all", "ours", "theirs"] as const;

export default function PromisesPage() {
  const t = useTexts(texts);
  const format = useFormat();
  const [params, setParams] = useSearchParams();
  const asked = STATES.find((state) => state === params.get("state"));
  const side = SIDES.find((each) => each === params.get("side")) ?? "all";
  const maker = params.get("maker");
  const speaker = params.get("speaker");
  const [from, to] = [params.get("from"), params.get("to")];
  const offset = Math.max(0, Number(params.get("offset")) || 0);
  const [typed, setTyped] = useState(params.get("query") ?? "");
  const [query] = useDebouncedValue(typed.trim(), WAIT_MS);
  const set = (values: Record<string, string | null>) =>
    setParams(
      (old) => {
        const next = new URLSearchParams(old);
        next.delete("offset");
        for (const [name, value] of Object.entries(values)) {
          if (value) next.set(name, value);
          else next.delete(name);
        }
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  // The address follows what was typed, and nothing else.
  useEffect(() => {
    if (query !== (params.get("query") ?? "")) set({ query });
  }, [query]);
  const clear = () => {
    setTyped("");
    set({ side: null, maker: null, speaker: null, from: null, to: null, query: null });
  };
  const state = asked ?? "week";
  const found = useQuery({
    queryKey: ["commitments", state, side, maker, speaker, from, to, query, offset],
    queryFn: () =>
      read(
        api.GET("/public/v1/commitments", {
          params: {
            query: {
              state,
              limit: LIMIT,
              offset,
              ...(side === "all" ? {} : { side }),
              ...(maker ? { maker_id: maker } : {}),
              ...(speaker ? { speaker_id: speaker } : {}),
              ...(from ? { from } : {}),
              ...(to ? { to } : {}),
              ...(query ? { query } : {}),
            },
          },
        }),
      ),
    placeholderData: (old) => old,
  });
  const isNarrowed = Boolean(query || maker || speaker || from || to || side !== "all");
  return (
    <Page title={t.title} lead={t.lead}>
      <div className={classes.states}>
        {STATES.map((each) => (
          <UnstyledButton
            key={each}
            className={classes.state ?? ""}
            aria-pressed={each === state}
            onClick={() => set({ state: each })}
          >
            <Text size="sm" c="var(--soft)">
              {t.states[each]}
            </Text>
            <span className={each === "overdue" ? `${classes.count} ${classes.late}` : classes.count}>
              {found.data ? format.number(found.data.counts[each]) : "…"}
            </span>
          </UnstyledButton>
        ))}
      </div>
      <Card>
        <Group gap="sm" mb="xs" align="flex-end">
          <TextInput
            className={classes.search ?? ""}
            aria-label={t.search}
            placeholder={t.search}
            leftSection={<IconSearch size={17} aria-hidden />}
            value={typed}
            maxLength={200}
            onChange={(event) => setTyped(event.target.value)}
          />
          <Maker value={maker} onChange={(value) => set({ maker: value })} />
          <Select
            aria-label={t.side}
            w={130}
            allowDeselect={false}
            value={side}
            data={SIDES.map((each) => ({ value: each, label: t.sides[each] }))}
            onChange={(value) => set({ side: value === "all" ? null : value })}
          />
        </Group>
        <Narrowed speaker={speaker} from={from} to={to} onClear={set} />
        <Loaded query={found} waiting={<Waiting lines={5} height={48} />}>
          {({ items, pagination }) =>
            items.length === 0 ? (
              <Nothing state={state} isNarrowed={isNarrowed} onAll={clear} />
            ) : (
              <>
                {items.map((item) => (
                  <PromiseRow key={item.id} item={item} />
                ))}
                <Pages
                  limit={LIMIT}
                  offset={offset}
                  total={pagination.total}
                  onOffset={(next) => set({ offset: next ? String(next) : null })}
                />
              </>
            )
          }
        </Loaded>
      </Card>
    </Page>
  );
}

function Nothing({ state, isNarrowed, onAll }: { state: State; isNarrowed: boolean; onAll: () => void }) {
  const t = useTexts(texts);
  return (
    <Empty
      icon={<IconChecklist size={40} stroke={1.4} aria-hidden />}
      title={isNarrowed ? t.nothing : t.empty[state]}
      action={
        isNarrowed ? (
          <Button variant="light" onClick={onAll}>
            {t.clear}
          </Button>
        ) : undefined
      }
    >
      {isNarrowed ? t.nothingText : t.emptyText}
    </Empty>
  );
}
