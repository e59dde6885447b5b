import { Anchor, SegmentedControl, Table, Tabs, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { More } from "../../parts/more";
import { Failure, Waiting } from "../../parts/states";
import { categoryName, kindTexts } from "../communications/kinds";
import { listPath, type Period } from "../overview/period";
import { Score } from "./score";
import { GROUPS, type GroupBy, texts } from "./texts";

type Ranked = components["schemas"]["RankedScore"];
type Order = "best" | "worst";

/** People, departments, scenarios or categories by their average score. */
export function Ranks({ period }: { period: Period }) {
  const t = useTexts(texts);
  const [group, setGroup] = useState<GroupBy>("person");
  const [order, setOrder] = useState<Order>("best");
  return (
    <Card
      title={t.ranks}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t.order}
          value={order}
          data={[
            { value: "best", label: t.best },
            { value: "worst", label: t.worst },
          ]}
          onChange={(value) => setOrder(value === "worst" ? "worst" : "best")}
        />
      }
    >
      <Tabs
        value={group}
        onChange={(value) => setGroup(GROUPS.find((each) => each === value) ?? "person")}
        keepMounted={false}
      >
        <Tabs.List mb="sm">
          {GROUPS.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t.groups[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {GROUPS.map((each) => (
          <Tabs.Panel key={each} value={each}>
            <Rows period={period} group={each} order={order} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Card>
  );
}

export function useRanks(period: Period, group: GroupBy | "criterion", order: Order, limit = 10) {
  const { from, to } = period;
  return useInfiniteQuery({
    queryKey: ["rank-qc", from, to, group, order, limit],
    queryFn: ({ pageParam }) =>
      read(
        api.POST("/public/v1/tools/rank_qc", {
          body: { from, to, group_by: group, order, limit, ...(pageParam ? { cursor: pageParam } : {}) },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
  });
}

function Rows({ period, group, order }: { period: Period; group: GroupBy; order: Order }) {
  const t = useTexts(texts);
  const found = useRanks(period, group, order);
  if (found.isPending) return <Waiting lines={5} height={28} />;
  if (!found.data) return <Failure error={found.error} again={() => void found.refetch()} />;
  const rows = found.data.pages.flatMap((page) => page.items);
  if (rows.length === 0) {
    return (
      <Text size="sm" c="var(--soft)">
        {t.noRanks}
      </Text>
    );
  }
  return (
    <>
      <RankTable rows={rows} group={group} period={period} />
      <More list={found}>{t.more}</More>
    </>
  );
}

function RankTable({ rows, group, period }: { rows: Ranked[]; group: GroupBy; period: Period }) {
  const t = useTexts(texts);
  const format = useFormat();
  const isPhone = useMediaQuery("(max-width: 48em)") ?? false;
  return (
    <Table verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.name}</Table.Th>
          <Table.Th>{t.score}</Table.Th>
          {!isPhone && (
            <Table.Th ta="right" style={{ whiteSpace: "nowrap" }}>
              {t.evaluations}
            </Table.Th>
          )}
          {!isPhone && <Table.Th>{t.weakest}</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.id ?? row.name}>
            <Table.Td>
              <Name row={row} group={group} period={period} />
              {isPhone && (
                <Text size="xs" c="var(--soft)">
                  {format.count(row.evaluations, t.evaluated)}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <Score value={row.score_pct} />
            </Table.Td>
            {!isPhone && <Table.Td ta="right">{format.number(row.evaluations)}</Table.Td>}
            {!isPhone && (
              <Table.Td>
                <Text size="sm" c="var(--soft)" lineClamp={2}>
                  {row.weakest_criterion ? `${row.weakest_criterion} (${format.percent(row.weakest_pct)})` : t.allMet}
                </Text>
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Where the row leads: the conversations behind it, where the list can show them alone. */
function Name({ row, group, period }: { row: Ranked; group: GroupBy; period: Period }) {
  const { categories } = useTexts(kindTexts);
  const name = group === "category" ? categoryName(categories, row.id, row.name) : row.name;
  const to =
    group === "person" && row.id
      ? listPath(period, { participant: row.id })
      : group === "category" && row.id
        ? listPath(period, { category: row.id })
        : group === "scenario" && row.id
          ? listPath(period, { scenario: row.id })
          : row.communication_id
            ? `/communications/${row.communication_id}`
            : null;
  if (!to) return <Text size="sm">{name}</Text>;
  return (
    <Anchor component={Link} to={to} size="sm" fw={600} lineClamp={2}>
      {name}
    </Anchor>
  );
}
