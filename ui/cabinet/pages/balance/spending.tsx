import { Group, SegmentedControl, Table, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { useFormat, useLanguage, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Chart } from "../../parts/lazy-chart";
import { Empty, Loaded, Waiting } from "../../parts/states";
import { productName, texts } from "./texts";

type SpendingData = components["schemas"]["Spending"];

const PERIODS = ["7", "30", "90"];
const DAY_MS = 86_400_000;

/** What was spent by the day, as a chart and as sums by product. */
export function Spending() {
  const t = useTexts(texts);
  const [days, setDays] = useState("30");
  const query = useQuery({
    queryKey: ["balance", "spending", days],
    queryFn: async () => {
      // The server knows which day it is for the account.
      const { to } = await read(api.GET("/public/v1/balance/spending"));
      const from = new Date(Date.parse(to) - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);
      return read(api.GET("/public/v1/balance/spending", { params: { query: { from, to } } }));
    },
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title={t.spending}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t.period}
          value={days}
          onChange={setDays}
          data={PERIODS.map((each) => ({ value: each, label: t.days(each) }))}
        />
      }
    >
      <Loaded query={query} waiting={<Waiting lines={1} height={240} />}>
        {(data) => (data.items.length === 0 ? <Empty title={t.noSpending} /> : <Shown data={data} />)}
      </Loaded>
    </Card>
  );
}

function Shown({ data }: { data: SpendingData }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const { money, price, date } = useFormat();
  const option = useMemo(() => {
    const days: string[] = [];
    for (let at = Date.parse(data.from); at <= Date.parse(data.to); at += DAY_MS) {
      days.push(new Date(at).toISOString().slice(0, 10));
    }
    const spent = new Map(data.items.map((item) => [`${item.day} ${item.product}`, item.amount_rub]));
    return {
      tooltip: { trigger: "axis", valueFormatter: (value: unknown) => money(Number(value)) },
      legend: { type: "scroll", bottom: 0 },
      grid: { left: 8, right: 16, top: 16, bottom: 40, containLabel: true },
      xAxis: { type: "category", data: days.map((day) => date(day)) },
      yAxis: { type: "value", axisLabel: { formatter: (value: number) => price(value) } },
      series: data.products.map((product) => ({
        name: productName(product, language),
        type: "bar",
        stack: "spent",
        barMaxWidth: 28,
        data: days.map((day) => spent.get(`${day} ${product}`) ?? 0),
      })),
    };
  }, [data, language, money, price, date]);
  const sums = data.products.map((product) => ({
    product,
    amount: data.items.filter((each) => each.product === product).reduce((sum, each) => sum + each.amount_rub, 0),
  }));
  return (
    <>
      <Chart option={option} label={t.spendingLabel(money(data.total_rub))} height={260} />
      <Table mt="sm" verticalSpacing={6}>
        <Table.Tbody>
          {sums.map(({ product, amount }) => (
            <Table.Tr key={product}>
              <Table.Td>{productName(product, language)}</Table.Td>
              <Table.Td ta="right">{money(amount)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Group justify="space-between" mt="xs" px="xs">
        <Text fw={600} size="sm">
          {t.total}
        </Text>
        <Text fw={600} size="sm">
          {money(data.total_rub)}
        </Text>
      </Group>
    </>
  );
}
