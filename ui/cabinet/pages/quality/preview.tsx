import { Anchor, Badge, Button, Group, Select, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconMinus, IconX } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Failure } from "../../parts/states";
import { bodyOf, type Scenarios } from "./draft";
import { texts } from "./editor-texts";
import classes from "./quality.module.css";

const SHOWN = 50;
const WAIT_MS = 250;
type Verdict = components["schemas"]["QcPreview"];
type Judged = components["schemas"]["QcPreviewCriterion"];
type Found = components["schemas"]["CommunicationItem"];

/** Judges a real conversation by the draft, before anything is saved. */
export function Preview({ draft }: { draft: Scenarios }) {
  const t = useTexts(texts);
  const format = useFormat();
  const [chosen, setChosen] = useState<Found | null>(null);
  const [typed, setTyped] = useState("");
  const [words] = useDebouncedValue(typed.trim(), WAIT_MS);
  const label = (item: Found) => `${format.day(item.occured_at)} · ${item.title || item.kind}`;
  // Until somebody chooses, the newest.
  const [newest, setNewest] = useState<Found | null>(null);
  const current = chosen ?? newest;
  // What stands in the field while nobody types is the label of the one that is chosen, and no search.
  const query = current && words === label(current).trim() ? "" : words;
  const search = useQuery({
    queryKey: ["communications-to-judge", query],
    queryFn: () =>
      read(api.POST("/public/v1/tools/search_communications", { body: { limit: SHOWN, ...(query ? { query } : {}) } })),
    placeholderData: (before) => before,
  });
  const found = search.data?.items ?? [];
  const items = current && !found.some(({ id }) => id === current.id) ? [...found, current] : found;
  const first = found[0];
  useEffect(() => setNewest((before) => before ?? first ?? null), [first]);
  const communicationId = current?.id ?? null;
  const judge = useMutation({
    mutationFn: (id: string) =>
      read(api.POST("/public/v1/qc/scenarios/preview", { body: { ...bodyOf(draft), communication_id: id } })),
  });
  return (
    <div className={classes.preview}>
      <Card title={t.preview}>
        <Stack gap="sm">
          <Text size="sm" c="var(--soft)">
            {t.previewText}
          </Text>
          <Select
            aria-label={t.choose}
            description={t.search}
            placeholder={search.data && !query && items.length === 0 ? t.none : t.choose}
            nothingFoundMessage={search.isFetching ? t.searching : t.nothingFound}
            searchValue={typed}
            onSearchChange={setTyped}
            // What the server found fits, by its words or by their meaning.
            filter={({ options }) => options}
            searchable
            allowDeselect={false}
            value={communicationId}
            data={items.map((item) => ({ value: item.id, label: label(item) }))}
            onChange={(id) => setChosen(items.find((item) => item.id === id) ?? null)}
          />
          <Group justify="space-between" gap="xs">
            <Text size="xs" c="var(--soft)" maw="16rem">
              {t.free}
            </Text>
            <Button
              disabled={communicationId === null}
              loading={judge.isPending}
              onClick={() => communicationId && judge.mutate(communicationId)}
            >
              {t.judge}
            </Button>
          </Group>
          {judge.isError && <Failure error={judge.error} />}
          <div aria-live="polite">
            {judge.data ? (
              <Outcome verdict={judge.data} />
            ) : (
              <Text size="sm" c="var(--soft)">
                {t.nothingYet}
              </Text>
            )}
          </div>
        </Stack>
      </Card>
    </div>
  );
}

function Outcome({ verdict }: { verdict: Verdict }) {
  const t = useTexts(texts);
  const format = useFormat();
  if (verdict.scenario_code === null) return <Text size="sm">{t.noScenario}</Text>;
  return (
    <>
      <Group gap="sm" align="baseline">
        <span className={classes.figure}>{format.percent(verdict.score_pct, 1)}</span>
        <Badge variant="light" tt="none">
          {verdict.scenario_name}
        </Badge>
      </Group>
      {verdict.saved_score_pct !== null && (
        <Text size="xs" c="var(--soft)">
          {t.savedScore(format.percent(verdict.saved_score_pct, 1))}
        </Text>
      )}
      <Stack gap={0} mt="sm">
        {verdict.criteria.map((each) => (
          <CriterionVerdict key={each.code} judged={each} communicationId={verdict.communication_id} />
        ))}
      </Stack>
    </>
  );
}

function CriterionVerdict({ judged, communicationId }: { judged: Judged; communicationId: string }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { value } = judged;
  const [icon, colour, said] =
    value === true
      ? [<IconCheck key="icon" size={16} aria-hidden />, "green", t.met]
      : value === false
        ? [<IconX key="icon" size={16} aria-hidden />, "red", t.notMet]
        : [<IconMinus key="icon" size={16} aria-hidden />, "gray", t.states[judged.state] ?? ""];
  return (
    <div className={classes.verdict}>
      <Text span c={colour} lh={1.4}>
        {icon}
      </Text>
      <div style={{ minInlineSize: 0 }}>
        <Text size="sm">
          {judged.name}
          {typeof value === "number" && `: ${format.number(value, 1)}`}
          <span className="visually-hidden">: {said}</span>
        </Text>
        {typeof value !== "boolean" && typeof value !== "number" && (
          <Text size="xs" c="var(--soft)" aria-hidden>
            {said}
          </Text>
        )}
        {judged.evidence && (
          <Anchor
            component={Link}
            to={`/communications/${communicationId}${judged.idx === null ? "" : `?item=${judged.idx}`}`}
            size="xs"
            lineClamp={2}
          >
            «{judged.evidence}»
          </Anchor>
        )}
      </div>
    </div>
  );
}
