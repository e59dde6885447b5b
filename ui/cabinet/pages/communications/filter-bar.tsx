import {
  Badge,
  Button,
  CloseButton,
  Collapse,
  Group,
  Pill,
  Select,
  SimpleGrid,
  TextInput,
  VisuallyHidden,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconAdjustmentsHorizontal, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { api, read } from "../../api/client";
import { hasFeature } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { FILTER_NAMES, type FilterName, type FiltersInUse } from "./filters";
import { keyNames, SIGNALS } from "./keys";
import { CATEGORIES, CHANNELS, DIRECTIONS, KINDS, kindTexts, nameOf } from "./kinds";
import { PersonSelect } from "./person-select";
import { SavedViews } from "./saved-views";
import { TONES, toneNames } from "./tones";

/** What the API calls those that have no category. */
const UNCATEGORISED = "none";

const texts: Texts<{
  search: string;
  placeholder: string;
  find: string;
  clear: string;
  filters: string;
  names: Record<FilterName, string>;
  any: string;
  reset: string;
  remove: (name: string) => string;
  low: string;
  good: string;
  answers: Record<"true" | "false", string>;
  replies: Record<"true" | "false", string>;
  uncategorised: string;
}> = {
  en: {
    search: "Search in conversations",
    placeholder: "What was it about? Words or meaning",
    find: "Search",
    clear: "Clear the search",
    filters: "Filters",
    names: {
      query: "Search",
      kind: "Kind",
      channel_type: "Channel",
      direction: "Direction",
      category: "Category",
      participant: "Person",
      scenario: "QC scenario",
      score_from: "Score from",
      score_to: "Score up to",
      tone: "Tone of the staff",
      answered: "Answer",
      replied: "Reply in a chat or mail",
      signal: "Signal",
      from: "From",
      to: "To",
    },
    any: "Any",
    reset: "Clear all",
    remove: (name) => `Remove: ${name}`,
    low: "below 50 %",
    good: "80 % and better",
    answers: { true: "Answered", false: "Unanswered" },
    replies: { true: "Chats and mails with a reply", false: "Chats and mails without a reply" },
    uncategorised: "Not analysed",
  },
  ru: {
    search: "Поиск по разговорам",
    placeholder: "О чём был разговор? Слова или смысл",
    find: "Найти",
    clear: "Очистить поиск",
    filters: "Фильтры",
    names: {
      query: "Поиск",
      kind: "Вид",
      channel_type: "Канал",
      direction: "Направление",
      category: "Категория",
      participant: "Участник",
      scenario: "Сценарий качества",
      score_from: "Оценка от",
      score_to: "Оценка до",
      tone: "Тон сотрудника",
      answered: "Ответ",
      replied: "Ответ в чате или письме",
      signal: "Сигнал",
      from: "С даты",
      to: "По дату",
    },
    any: "Все",
    reset: "Сбросить всё",
    remove: (name) => `Убрать: ${name}`,
    low: "ниже 50 %",
    good: "80 % и выше",
    answers: { true: "Отвечено", false: "Без ответа" },
    replies: { true: "Чаты и письма с ответом", false: "Чаты и письма без ответа" },
    uncategorised: "Без анализа",
  },
};

/** Search, filters and saved views above the list; what is in force stands below as pills. */
export function FilterBar({ filters, change, replace }: FiltersInUse) {
  const t = useTexts(texts);
  const kinds = useTexts(kindTexts);
  const signals = useTexts(keyNames);
  const tones = useTexts(toneNames);
  const [opened, { toggle }] = useDisclosure();
  const [typed, setTyped] = useState(filters.query ?? "");
  useEffect(() => setTyped(filters.query ?? ""), [filters.query]);
  const quality = useQuery({
    queryKey: ["qc-scenarios"],
    enabled: hasFeature("qc") && (opened || Boolean(filters.scenario)),
    staleTime: 60_000,
    queryFn: () => read(api.GET("/public/v1/qc/scenarios")),
  });
  const scenarios = (quality.data?.items ?? []).map((each) => ({ value: each.code, label: each.name }));
  const search = (event: FormEvent) => {
    event.preventDefault();
    change({ query: typed.trim() });
  };
  const choice = <Name extends string>(all: readonly Name[], names: Record<Name, string>) =>
    all.map((value) => ({ value, label: names[value] }));
  const select = (name: FilterName, data: { value: string; label: string }[]) => (
    <Select
      label={t.names[name]}
      placeholder={t.any}
      clearable
      data={data}
      value={filters[name] ?? null}
      onChange={(value) => change({ [name]: value ?? "" })}
    />
  );
  const day = (name: "from" | "to") => (
    <TextInput
      type="date"
      label={t.names[name]}
      value={/^\d{4}-\d{2}-\d{2}$/.test(filters[name] ?? "") ? (filters[name] ?? "") : ""}
      {...(name === "to" && filters.from ? { min: filters.from } : {})}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  );
  const count = FILTER_NAMES.filter((name) => name !== "query" && filters[name]).length;
  return (
    <div>
      <Group gap="xs" wrap="wrap">
        <search style={{ flex: "1 1 18rem", minInlineSize: 0 }}>
          <form onSubmit={search}>
            <TextInput
              aria-label={t.search}
              placeholder={t.placeholder}
              size="md"
              leftSection={<IconSearch size={18} aria-hidden />}
              rightSection={
                typed ? (
                  <CloseButton
                    aria-label={t.clear}
                    onClick={() => {
                      setTyped("");
                      change({ query: "" });
                    }}
                  />
                ) : null
              }
              value={typed}
              maxLength={400}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
            <VisuallyHidden>
              <button type="submit" tabIndex={-1}>
                {t.find}
              </button>
            </VisuallyHidden>
          </form>
        </search>
        <Button
          size="md"
          variant="default"
          leftSection={<IconAdjustmentsHorizontal size={18} aria-hidden />}
          rightSection={
            count ? (
              <Badge size="sm" circle>
                {count}
              </Badge>
            ) : null
          }
          aria-expanded={opened}
          aria-controls="filters"
          onClick={toggle}
        >
          {t.filters}
        </Button>
        <SavedViews filters={filters} replace={replace} />
      </Group>
      <Collapse expanded={opened} id="filters">
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} pt="md" spacing="sm">
          {select("kind", choice(KINDS, kinds.kinds))}
          {select("channel_type", choice(CHANNELS, kinds.channels))}
          {select("direction", choice(DIRECTIONS, kinds.directions))}
          {select("category", [
            ...choice(CATEGORIES, kinds.categories),
            { value: UNCATEGORISED, label: t.uncategorised },
          ])}
          {select("answered", choice(["true", "false"], t.answers))}
          {select("replied", choice(["true", "false"], t.replies))}
          {select("signal", choice(SIGNALS, signals))}
          {day("from")}
          {day("to")}
          <PersonSelect
            label={t.names.participant}
            value={filters.participant ?? null}
            onChange={(id) => change({ participant: id ?? "" })}
          />
          {hasFeature("qc") && select("scenario", scenarios)}
          {hasFeature("qc") && select("tone", choice(TONES, tones))}
          {hasFeature("qc") && (
            <Select
              label={t.names.score_to.replace(/\s.*$/, "")}
              placeholder={t.any}
              clearable
              data={[
                { value: "low", label: t.low },
                { value: "good", label: t.good },
              ]}
              value={filters.score_to ? "low" : filters.score_from ? "good" : null}
              onChange={(value) =>
                change({ score_from: value === "good" ? "80" : "", score_to: value === "low" ? "49.99" : "" })
              }
            />
          )}
        </SimpleGrid>
      </Collapse>
      <InForce filters={filters} change={change} replace={replace} scenarios={scenarios} />
    </div>
  );
}

type InForceProps = FiltersInUse & { scenarios: { value: string; label: string }[] };

function InForce({ filters, change, replace, scenarios }: InForceProps) {
  const t = useTexts(texts);
  const kinds = useTexts(kindTexts);
  const signals: Record<string, string> = useTexts(keyNames);
  const tones: Record<string, string> = useTexts(toneNames);
  const format = useFormat();
  const person = useQuery({
    queryKey: ["person-name", filters.participant],
    enabled: Boolean(filters.participant),
    queryFn: () =>
      read(
        api.GET("/public/v1/speakers/{speaker_id}", { params: { path: { speaker_id: filters.participant ?? "" } } }),
      ),
  });
  const shown: [FilterName, string][] = [];
  for (const name of FILTER_NAMES) {
    const value = filters[name];
    if (!value) continue;
    const known: Partial<Record<FilterName, string | undefined>> = {
      kind: kinds.kinds[value as (typeof KINDS)[number]],
      channel_type: kinds.channels[value as (typeof CHANNELS)[number]],
      direction: kinds.directions[value as (typeof DIRECTIONS)[number]],
      category: value === UNCATEGORISED ? t.uncategorised : kinds.categories[value as (typeof CATEGORIES)[number]],
      participant: person.data
        ? (nameOf({ name: person.data.name ?? "", external_id: person.data.external_id ?? "" }) ?? "…")
        : "…",
      scenario: scenarios.find((each) => each.value === value)?.label,
      tone: tones[value] && `${t.names.tone}: ${tones[value]}`,
      answered: t.answers[value as "true" | "false"],
      replied: t.replies[value as "true" | "false"],
      signal: signals[value],
      score_from: `${t.names.score_from} ${format.percent(Number(value))}`,
      score_to: `${t.names.score_to} ${format.percent(Number(value))}`,
      query: `“${value}”`,
    };
    if (name === "from" || name === "to") {
      const day = /^\d{4}-\d{2}-\d{2}$/.test(value) ? format.date(value) : value;
      shown.push([name, `${t.names[name]}: ${day}`]);
    } else shown.push([name, known[name] ?? value]);
  }
  if (!shown.length) return null;
  return (
    <Group gap={6} pt="sm">
      {shown.map(([name, label]) => (
        <Pill
          key={name}
          size="md"
          withRemoveButton
          onRemove={() => change({ [name]: "" })}
          removeButtonProps={{ "aria-label": t.remove(label), tabIndex: 0, "aria-hidden": false }}
        >
          {label}
        </Pill>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={() => replace({})}>
        {t.reset}
      </Button>
    </Group>
  );
}
