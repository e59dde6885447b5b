import { Anchor, Badge, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "react-router";
import { session } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Loaded, Waiting } from "../../parts/states";
import { keyNames } from "../communications/keys";
import { categoryName, kindTexts } from "../communications/kinds";
import classes from "./overview.module.css";
import { listPath, type Period } from "./period";
import { type Metrics, useBalance, usePromises, useSignals, useStreams } from "./queries";
import { texts as shared } from "./texts";

const LOW_BALANCE_RUB = 500;

const texts: Texts<{
  promises: string;
  allPromises: string;
  overdue: string;
  week: string;
  noPromises: string;
  signals: string;
  noSignals: string;
  cameras: string;
  allCameras: string;
  noCameras: string;
  online: (online: string, total: string) => string;
  statuses: Record<string, string>;
  balance: string;
  held: (amount: string) => string;
  low: string;
  topUp: string;
  history: string;
}> = {
  en: {
    promises: "Promises due",
    allPromises: "All promises",
    overdue: "Overdue",
    week: "Next 7 days",
    noPromises: "Nothing is due: every promise with a day was kept or lies further ahead.",
    signals: "What customers signal",
    noSignals: "No objections, risks or competitors came up in this period.",
    cameras: "Cameras",
    allCameras: "All cameras",
    noCameras: "No camera is connected yet.",
    online: (online, total) => `${online} of ${total} online`,
    statuses: {
      connecting: "Connecting",
      online: "Online",
      reconnecting: "Reconnecting",
      offline: "Offline",
      error: "Error",
    },
    balance: "Balance",
    held: (amount) => `${amount} held for work in progress`,
    low: "The balance is low: new calls may not be accepted soon.",
    topUp: "Top up",
    history: "History",
  },
  ru: {
    promises: "Обещания к сроку",
    allPromises: "Все обещания",
    overdue: "Просрочено",
    week: "Ближайшие 7 дней",
    noPromises: "К сроку ничего нет: обещания выполнены или впереди ещё есть время.",
    signals: "О чём сигналят клиенты",
    noSignals: "За этот период не было возражений, рисков и упоминаний конкурентов.",
    cameras: "Камеры",
    allCameras: "Все камеры",
    noCameras: "Камеры пока не подключены.",
    online: (online, total) => `${online} из ${total} на связи`,
    statuses: {
      connecting: "Подключается",
      online: "На связи",
      reconnecting: "Переподключается",
      offline: "Нет связи",
      error: "Ошибка",
    },
    balance: "Баланс",
    held: (amount) => `${amount} зарезервировано под текущую работу`,
    low: "Баланс на исходе: скоро новые звонки могут не приниматься.",
    topUp: "Пополнить",
    history: "История",
  },
};

/** Shares by category, each a link to its communications. */
export function CategoriesCard({ data, period }: { data: Metrics; period: Period }) {
  const t = useTexts(shared);
  const { categories } = useTexts(kindTexts);
  const format = useFormat();
  const most = Math.max(1, ...data.categories.map((share) => share.count));
  return (
    <Card title={t.categories}>
      {data.categories.length === 0 && (
        <Text size="sm" c="var(--soft)">
          {t.noCategories}
        </Text>
      )}
      <Stack gap={2}>
        {data.categories.map((share) => (
          <Link
            key={share.code ?? ""}
            to={listPath(period, { category: share.code ?? "none" })}
            className={classes.row}
          >
            <Group justify="space-between" gap="xs" wrap="nowrap" mb={4}>
              <Text size="sm" truncate>
                {categoryName(categories, share.code, share.label) ?? t.notAnalysed}
              </Text>
              <Text size="sm" c="var(--soft)" style={{ whiteSpace: "nowrap" }}>
                {format.number(share.count)} · {format.percent(share.pct)}
              </Text>
            </Group>
            <div className={classes.bar}>
              <span style={{ inlineSize: `${(100 * share.count) / most}%` }} />
            </div>
          </Link>
        ))}
      </Stack>
    </Card>
  );
}

export const SHOWN_PROMISES = 3;

/** What was promised and is late or near. */
export function PromisesCard() {
  const t = useTexts(texts);
  const format = useFormat();
  const overdue = usePromises("overdue", SHOWN_PROMISES);
  const week = usePromises("week", SHOWN_PROMISES);
  const groups = [
    { name: "week", title: t.week, query: week, isLate: false },
    { name: "overdue", title: t.overdue, query: overdue, isLate: true },
  ];
  const isEmpty = groups.every(({ query }) => query.data?.pagination.total === 0);
  return (
    <Card
      title={t.promises}
      actions={
        <Anchor component={Link} to="/promises" size="sm">
          {t.allPromises}
        </Anchor>
      }
    >
      {isEmpty && (
        <Text size="sm" c="var(--soft)">
          {t.noPromises}
        </Text>
      )}
      <Stack gap="md">
        {groups.map(({ name, title, query, isLate }) => (
          <Loaded key={name} query={query} waiting={<Waiting lines={3} />}>
            {({ items, pagination }) =>
              items.length > 0 && (
                <div>
                  <Anchor
                    component={Link}
                    to={`/promises?state=${name}`}
                    size="sm"
                    fw={600}
                    className={isLate ? (classes.down ?? "") : ""}
                  >
                    {title}: {format.number(pagination.total)}
                  </Anchor>
                  {items.map((item) => (
                    <Link
                      key={item.id}
                      to={`/communications/${item.communication.id}${item.idx === null ? "" : `?item=${item.idx}`}`}
                      className={classes.row}
                    >
                      <Text size="sm" lineClamp={2}>
                        {item.content}
                      </Text>
                      <Text size="xs" c="var(--soft)">
                        {[item.due_on && format.date(item.due_on), item.made_by?.name].filter(Boolean).join(" · ")}
                      </Text>
                    </Link>
                  ))}
                </div>
              )
            }
          </Loaded>
        ))}
      </Stack>
    </Card>
  );
}

/** Objections, risks, competitors: how often, and the newest words. */
export function SignalsCard({ period }: { period: Period }) {
  const t = useTexts(texts);
  const format = useFormat();
  const names: Record<string, string> = useTexts(keyNames);
  const signals = useSignals(period);
  return (
    <Card title={t.signals}>
      <Loaded query={signals} waiting={<Waiting lines={5} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Text size="sm" c="var(--soft)">
              {t.noSignals}
            </Text>
          ) : (
            <Stack gap={2}>
              {items.map((item) => (
                <Link key={item.id} to={listPath(period, { signal: item.name })} className={classes.row}>
                  <Group justify="space-between" wrap="nowrap" gap="xs">
                    <Text size="sm" fw={600}>
                      {names[item.name] ?? item.name}
                    </Text>
                    <Badge variant="light" size="sm">
                      {format.number(item.count)}
                    </Badge>
                  </Group>
                  {item.quote && (
                    <Text className={classes.quote} lineClamp={2}>
                      «{item.quote}»
                    </Text>
                  )}
                </Link>
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Card>
  );
}

const STATUS_COLOURS: Record<string, string> = { online: "green", error: "red", offline: "red" };

export function CamerasCard() {
  const t = useTexts(texts);
  const format = useFormat();
  const streams = useStreams();
  return (
    <Card
      title={t.cameras}
      actions={
        <Anchor component={Link} to="/cameras" size="sm">
          {t.allCameras}
        </Anchor>
      }
    >
      <Loaded query={streams} waiting={<Waiting lines={2} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Text size="sm" c="var(--soft)">
              {t.noCameras}
            </Text>
          ) : (
            <Stack gap={2}>
              <Text size="sm" c="var(--soft)">
                {t.online(
                  format.number(items.filter((item) => item.status === "online").length),
                  format.number(items.length),
                )}
              </Text>
              {items.slice(0, 5).map((item) => (
                <Link key={item.id} to={`/cameras/${item.id}`} className={classes.row}>
                  <Group justify="space-between" wrap="nowrap" gap="xs">
                    <Text size="sm" truncate>
                      {item.name}
                    </Text>
                    <Badge variant="light" size="sm" color={STATUS_COLOURS[item.status] ?? "yellow"}>
                      {t.statuses[item.status] ?? item.status}
                    </Badge>
                  </Group>
                </Link>
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Card>
  );
}

export function BalanceCard() {
  const t = useTexts(texts);
  const format = useFormat();
  const balance = useBalance();
  return (
    <Card
      title={t.balance}
      actions={
        <Anchor component={Link} to="/balance" size="sm">
          {session.can_top_up ? t.topUp : t.history}
        </Anchor>
      }
    >
      <Loaded query={balance} waiting={<Waiting lines={1} height={32} />}>
        {(data) => {
          const left = Number(data.balance_rub) - Number(data.held_rub);
          return (
            <Stack gap={4}>
              <span className={classes.value}>{format.money(data.balance_rub)}</span>
              {Number(data.held_rub) > 0 && (
                <Text size="sm" c="var(--soft)">
                  {t.held(format.money(data.held_rub))}
                </Text>
              )}
              {left < LOW_BALANCE_RUB && !data.allow_credit && (
                <Group gap={6} wrap="nowrap" align="flex-start" role="status">
                  <IconAlertTriangle size={16} aria-hidden className={classes.down} />
                  <Text size="sm">{t.low}</Text>
                </Group>
              )}
            </Stack>
          );
        }}
      </Loaded>
    </Card>
  );
}
