import { Anchor, Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Failure, Waiting } from "../../parts/states";
import { turnOf } from "../communications/voices";
import type { Period } from "../overview/period";
import classes from "./quality.module.css";
import { useRanks } from "./ranks";
import { Score } from "./score";
import { texts } from "./texts";

const SHOWN = 8;
type Ranked = components["schemas"]["RankedScore"];

/** The criteria that were met least, each with the newest conversation that failed it. */
export function WeakestCriteria({ period }: { period: Period }) {
  const t = useTexts(texts);
  const [isWhole, setIsWhole] = useState(false);
  const found = useRanks(period, "criterion", "worst", 50);
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  const failed = rows.filter((row) => row.score_pct < 100);
  return (
    <Card title={t.criteria}>
      <Text size="sm" c="var(--soft)" mb="xs">
        {t.criteriaLead}
      </Text>
      {found.isPending && <Waiting lines={5} height={36} />}
      {found.isError && <Failure error={found.error} again={() => void found.refetch()} />}
      {found.data && rows.length === 0 && (
        <Text size="sm" c="var(--soft)">
          {t.noCriteria}
        </Text>
      )}
      {(isWhole ? rows : failed.slice(0, SHOWN)).map((row) => (
        <Criterion key={row.id} row={row} />
      ))}
      {!isWhole && rows.length > Math.min(failed.length, SHOWN) && (
        <Group justify="center" mt="sm">
          <Button variant="default" onClick={() => setIsWhole(true)}>
            {t.rest}
          </Button>
        </Group>
      )}
    </Card>
  );
}

function Criterion({ row }: { row: Ranked }) {
  const t = useTexts(texts);
  const format = useFormat();
  const [opened, setOpened] = useState(false);
  return (
    <div className={classes.criterion}>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <div style={{ minInlineSize: 0 }}>
          <Text size="sm" fw={600}>
            {row.name}
          </Text>
          <Text size="xs" c="var(--soft)">
            {format.count(row.evaluations, t.evaluated)}
          </Text>
        </div>
        <Score value={row.score_pct} />
      </Group>
      {row.communication_id && row.score_pct < 100 && (
        <>
          <Button
            variant="subtle"
            size="compact-xs"
            mt={2}
            ml={-8}
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            {t.example}
          </Button>
          {opened && <Example row={row} communicationId={row.communication_id} />}
        </>
      )}
    </div>
  );
}

/** The words that decided it in the newest conversation that failed it, and where they are. */
function Example({ row, communicationId }: { row: Ranked; communicationId: string }) {
  const t = useTexts(texts);
  const format = useFormat();
  const evidence = useQuery({
    queryKey: ["evidence", communicationId, row.id],
    queryFn: async () => {
      const whole = await read(api.GET("/public/v1/communications", { params: { query: { id: communicationId } } }));
      const judged = whole.qc_evaluation?.criteria.find((each) => each.code === row.id);
      if (!judged?.evidence) return { quote: null, idx: null };
      return { quote: judged.evidence, idx: turnOf(whole.content ?? [], judged.evidence, judged.idx) };
    },
  });
  if (evidence.isPending) return <Waiting lines={1} />;
  if (evidence.isError) return <Failure error={evidence.error} again={() => void evidence.refetch()} />;
  const { quote, idx } = evidence.data;
  return (
    <div>
      {quote ? (
        <blockquote className={classes.quote}>«{quote}»</blockquote>
      ) : (
        <Text size="sm" c="var(--soft)">
          {t.noEvidence}
        </Text>
      )}
      <Group gap="xs" mt={4}>
        <Anchor
          component={Link}
          size="xs"
          to={`/communications/${communicationId}${idx === null ? "" : `?item=${idx}`}`}
        >
          {row.title || t.openCommunication}
        </Anchor>
        {row.occured_at && (
          <Text size="xs" c="var(--soft)">
            {format.day(row.occured_at)}
          </Text>
        )}
      </Group>
    </div>
  );
}
