import { Anchor, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconReceipt } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { session } from "../../app/session";
import { useFormat, useLanguage, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { dayEnd, dayStart } from "../../parts/days";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import classes from "./balance.module.css";
import { productName, texts } from "./texts";

type Item = components["schemas"]["BalanceHistoryItem"];
type Kind = "credit" | "debit";

const LIMIT = 20;
/** Where what a charge is for can be seen. */
const PLACES: Record<string, string> = { communication: "/communications", camera_stream: "/cameras" };

/** Top-ups and charges, newest first. */
export function History() {
  const t = useTexts(texts);
  const [kind, setKind] = useState<Kind | null>(null);
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [offset, setOffset] = useState(0);
  const zone = session.tenant.time_zone;
  const query = useQuery({
    queryKey: ["balance", "history", kind, from, to, offset],
    queryFn: () =>
      read(
        api.GET("/public/v1/balance/history", {
          params: {
            query: {
              limit: LIMIT,
              offset,
              ...(kind && { kind }),
              ...(from && { from: dayStart(from, zone) }),
              ...(to && { to: dayEnd(to, zone) }),
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const change = (set: (value: string) => void) => (event: { currentTarget: { value: string } }) => {
    set(event.currentTarget.value);
    setOffset(0);
  };
  const isFiltered = Boolean(kind || from || to);
  return (
    <Card title={t.history}>
      <Group gap="sm" mb="md" align="flex-end">
        <Select
          label={t.kind}
          placeholder={t.anyKind}
          clearable
          w={180}
          data={[
            { value: "credit", label: t.credits },
            { value: "debit", label: t.debits },
          ]}
          value={kind}
          onChange={(value) => {
            setKind(value as Kind | null);
            setOffset(0);
          }}
        />
        <TextInput type="date" label={t.from} value={from} onChange={change(setFrom)} />
        <TextInput type="date" label={t.to} value={to} onChange={change(setTo)} />
      </Group>
      <Loaded query={query}>
        {({ items, pagination }) =>
          items.length === 0 ? (
            <Empty
              icon={<IconReceipt size={36} stroke={1.4} aria-hidden />}
              title={isFiltered ? t.nothing : t.emptyHistory}
            />
          ) : (
            <>
              {items.map((item) => (
                <Line key={item.id} item={item} />
              ))}
              <Pages {...pagination} onOffset={setOffset} />
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

function Line({ item }: { item: Item }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const { money, moment, number, price } = useFormat();
  const products = [...new Set(item.lines?.map((line) => productName(line.product, language)))];
  const place = item.source && item.source_ref ? PLACES[item.source] : undefined;
  const title =
    products.length > 0 ? products.join(", ") : item.kind === "credit" ? t.credit_line : (item.description ?? "");
  return (
    <Group className={classes.line ?? ""} justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
      <Stack gap={2} miw={0}>
        <Text size="sm" fw={600}>
          {place ? (
            <Anchor
              component={Link}
              to={`${place}/${item.source_ref}`}
              c="inherit"
              fz="inherit"
              fw="inherit"
              underline="hover"
            >
              {title}
            </Anchor>
          ) : (
            title
          )}
        </Text>
        {item.lines && item.lines.length > 0 && (
          <Text size="xs" c="dimmed">
            {item.lines
              .map((line) => `${number(line.quantity)} ${t.units[line.unit] ?? line.unit} × ${price(line.rate_rub)}`)
              .join(" · ")}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {moment(item.created_at)}
          {item.kind === "credit" && item.description ? ` · ${item.description}` : ""}
        </Text>
      </Stack>
      <Text
        size="sm"
        fw={600}
        className={classes.sum ?? ""}
        c={item.amount_rub > 0 ? "var(--mantine-primary-color-light-color)" : "inherit"}
      >
        {item.amount_rub > 0 ? "+" : ""}
        {money(item.amount_rub)}
      </Text>
    </Group>
  );
}
