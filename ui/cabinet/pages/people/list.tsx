import { Anchor, Avatar, Badge, Button, Group, Select, Table, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useDebouncedValue, useMediaQuery } from "@mantine/hooks";
import { IconArrowDown, IconArrowUp, IconSearch, IconUsers } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import type { Forms } from "../../i18n/format";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { More } from "../../parts/more";
import { Page } from "../../parts/page";
import { Empty, Failure, Waiting } from "../../parts/states";
import classes from "./people.module.css";
import { AVATAR_COLOURS, ROLE_COLOURS, ROLES, type Role, roles, texts as shared } from "./texts";

const texts: Texts<{
  title: string;
  lead: string;
  search: string;
  role: string;
  everybody: string;
  department: string;
  last: string;
  count: string;
  more: string;
  empty: string;
  emptyText: string;
  upload: string;
  nobody: string;
  nobodyText: string;
  never: string;
  communications: Forms;
}> = {
  en: {
    title: "People",
    lead: "Clients and colleagues who took part in your communications, with what is known of them.",
    search: "Name, phone or external id",
    role: "Role",
    everybody: "Everybody",
    department: "Department",
    last: "Last contact",
    count: "Communications",
    more: "Show more",
    empty: "Nobody is here yet",
    emptyText: "People appear with the first calls, chats and mails that name who takes part.",
    upload: "Upload a call",
    nobody: "Nobody was found",
    nobodyText: "Try a part of the name, or another role.",
    never: "never",
    communications: { one: "communication", other: "communications" },
  },
  ru: {
    title: "Люди",
    lead: "Клиенты и коллеги из ваших коммуникаций и то, что о них известно.",
    search: "Имя, телефон или внешний идентификатор",
    role: "Роль",
    everybody: "Все",
    department: "Отдел",
    last: "Последний контакт",
    count: "Коммуникаций",
    more: "Показать ещё",
    empty: "Пока никого нет",
    emptyText: "Люди появятся с первыми звонками, чатами и письмами, где указаны участники.",
    upload: "Загрузить звонок",
    nobody: "Никого не нашлось",
    nobodyText: "Попробуйте часть имени или другую роль.",
    never: "не было",
    communications: { one: "коммуникация", few: "коммуникации", many: "коммуникаций", other: "коммуникации" },
  },
};

const PAGE = 50;
const WAIT_MS = 250;
type Found = components["schemas"]["SpeakerItem"];
const ORDERS = ["last_contact", "name"] as const;
type Order = (typeof ORDERS)[number];

export default function PeoplePage() {
  const t = useTexts(texts);
  const roleNames = useTexts(roles);
  const [params, setParams] = useSearchParams();
  const role = ROLES.find((each) => each === params.get("role")) ?? null;
  const [typed, setTyped] = useState(params.get("query") ?? "");
  const [query] = useDebouncedValue(typed.trim(), WAIT_MS);
  useEffect(() => {
    setParams(
      (old) => {
        const next = new URLSearchParams(old);
        if (query) next.set("query", query);
        else next.delete("query");
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  }, [query, setParams]);
  const setRole = (value: string | null) =>
    setParams(
      (old) => {
        const next = new URLSearchParams(old);
        if (value) next.set("role", value);
        else next.delete("role");
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  const order = ORDERS.find((each) => each === params.get("order")) ?? "last_contact";
  const setOrder = (value: Order) =>
    setParams(
      (old) => {
        const next = new URLSearchParams(old);
        if (value === "last_contact") next.delete("order");
        else next.set("order", value);
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  const found = usePeople(query, role, PAGE, order);
  const people = found.data?.pages.flatMap((page) => page.items) ?? [];
  const isNarrowed = Boolean(query || role);
  return (
    <Page title={t.title} lead={t.lead}>
      <Card>
        <Group gap="sm" mb="md" align="flex-end">
          <TextInput
            className={classes.search ?? ""}
            aria-label={t.search}
            placeholder={t.search}
            leftSection={<IconSearch size={17} aria-hidden />}
            value={typed}
            maxLength={200}
            onChange={(event) => setTyped(event.target.value)}
          />
          <Select
            aria-label={t.role}
            placeholder={t.everybody}
            clearable
            w={170}
            value={role}
            data={ROLES.map((each) => ({ value: each, label: roleNames[each] ?? each }))}
            onChange={setRole}
          />
        </Group>
        {found.isError && !found.data && <Failure error={found.error} again={() => void found.refetch()} />}
        {found.isPending && <Waiting lines={6} height={36} />}
        {found.data && people.length === 0 && (
          <Empty
            icon={<IconUsers size={40} stroke={1.4} aria-hidden />}
            title={isNarrowed ? t.nobody : t.empty}
            action={
              isNarrowed ? undefined : (
                <Button component={Link} to="/upload" variant="light">
                  {t.upload}
                </Button>
              )
            }
          >
            {isNarrowed ? t.nobodyText : t.emptyText}
          </Empty>
        )}
        {people.length > 0 && <People people={people} order={query ? null : order} onOrder={setOrder} />}
        <More list={found}>{t.more}</More>
      </Card>
    </Page>
  );
}

/** Pages of people; also for whoever looks for another one. */
export function usePeople(query: string, role: Role | null, limit = PAGE, order: Order = "last_contact") {
  return useInfiniteQuery({
    queryKey: ["people", query, role, limit, order],
    queryFn: ({ pageParam }) =>
      read(
        api.POST("/public/v1/tools/search_speakers", {
          body: {
            limit,
            order,
            ...(query ? { query } : {}),
            ...(role ? { role } : {}),
            ...(pageParam ? { cursor: pageParam } : {}),
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: (old) => old,
  });
}

interface PeopleProps {
  people: Found[];
  /** Null where who fits best comes first. */
  order: Order | null;
  onOrder: (order: Order) => void;
}

function People({ people, order, onOrder }: PeopleProps) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const roleNames = useTexts(roles);
  const format = useFormat();
  const isPhone = useMediaQuery("(max-width: 48em)") ?? false;
  return (
    <Table verticalSpacing="sm" highlightOnHover>
      {!isPhone && (
        <Table.Thead>
          <Table.Tr>
            <Sorted by="name" order={order} onOrder={onOrder}>
              {s.name}
            </Sorted>
            <Table.Th>{t.role}</Table.Th>
            <Table.Th>{t.department}</Table.Th>
            <Table.Th ta="right">{t.count}</Table.Th>
            <Sorted by="last_contact" order={order} onOrder={onOrder}>
              {t.last}
            </Sorted>
          </Table.Tr>
        </Table.Thead>
      )}
      <Table.Tbody>
        {people.map((person) => {
          const last = person.last_contact_at ? format.ago(person.last_contact_at) : t.never;
          const role = (
            <Badge variant="light" color={ROLE_COLOURS[person.role] ?? "gray"} tt="none">
              {roleNames[person.role] ?? person.role}
            </Badge>
          );
          return (
            <Table.Tr key={person.id}>
              <Table.Td>
                <Group gap="sm" wrap="nowrap">
                  <Avatar
                    name={person.name}
                    color="initials"
                    allowedInitialsColors={AVATAR_COLOURS}
                    size={36}
                    aria-hidden
                  />
                  <div className={classes.who}>
                    <Anchor component={Link} to={`/people/${person.id}`} fw={600} size="sm" lineClamp={2}>
                      {person.name || s.noName}
                    </Anchor>
                    <Text size="xs" c="var(--soft)" truncate>
                      {person.external_id}
                    </Text>
                    {isPhone && (
                      <Group gap={6} mt={4}>
                        {role}
                        <Text size="xs" c="var(--soft)">
                          {format.count(person.communications, t.communications)} · {last}
                        </Text>
                      </Group>
                    )}
                  </div>
                </Group>
              </Table.Td>
              {!isPhone && (
                <>
                  <Table.Td>{role}</Table.Td>
                  <Table.Td>
                    <Text size="sm" c="var(--soft)" lineClamp={2}>
                      {person.department}
                    </Text>
                  </Table.Td>
                  <Table.Td ta="right">{format.number(person.communications)}</Table.Td>
                  <Table.Td title={person.last_contact_at ? format.moment(person.last_contact_at) : undefined}>
                    <Text size="sm">{last}</Text>
                  </Table.Td>
                </>
              )}
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}

interface SortedProps {
  by: Order;
  order: Order | null;
  onOrder: (order: Order) => void;
  children: string;
}

/** The head of a column that the list can be in the order of. */
function Sorted({ by, order, onOrder, children }: SortedProps) {
  const isIts = by === order;
  const [direction, Arrow] =
    by === "name" ? (["ascending", IconArrowUp] as const) : (["descending", IconArrowDown] as const);
  return (
    <Table.Th aria-sort={isIts ? direction : undefined}>
      <UnstyledButton fz="inherit" fw="inherit" onClick={() => onOrder(by)} disabled={order === null}>
        <Group component="span" gap={4} wrap="nowrap">
          {children}
          {isIts && <Arrow size={14} aria-hidden />}
        </Group>
      </UnstyledButton>
    </Table.Th>
  );
}
