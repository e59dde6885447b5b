import { Loader, Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import { type Texts, useTexts } from "../../i18n/language";
import { kindTexts } from "./kinds";

const texts: Texts<{ type: string; nothing: string; unnamed: string }> = {
  en: { type: "Name or part of it", nothing: "Nobody is called so", unnamed: "No name" },
  ru: { type: "Имя или его часть", nothing: "Таких людей нет", unnamed: "Без имени" },
};

interface PersonSelectProps {
  label: string;
  value: string | null;
  onChange: (id: string | null, name: string) => void;
  disabled?: boolean;
}

/** One of the account's people, found by name. */
export function PersonSelect({ label, value, onChange, disabled = false }: PersonSelectProps) {
  const t = useTexts(texts);
  const { roles } = useTexts(kindTexts);
  const [typed, setTyped] = useState("");
  const [query] = useDebouncedValue(typed.trim(), 250);
  const found = useQuery({
    queryKey: ["people-choice", query],
    queryFn: () =>
      read(api.POST("/public/v1/tools/search_speakers", { body: { limit: 20, ...(query ? { query } : {}) } })),
    placeholderData: keepPreviousData,
  });
  const chosen = useQuery({
    queryKey: ["person-name", value],
    enabled: Boolean(value),
    queryFn: () => read(api.GET("/public/v1/speakers/{speaker_id}", { params: { path: { speaker_id: value ?? "" } } })),
  });
  const options = new Map<string, string>();
  const shown = (name: string, role: string) => [name || t.unnamed, roles[role]].filter(Boolean).join(" · ");
  for (const person of found.data?.items ?? []) {
    options.set(person.id, shown(person.name || person.external_id || "", person.role));
  }
  if (value && !options.has(value)) {
    const person = chosen.data;
    options.set(value, person ? shown(person.name || person.external_id || "", person.role) : "…");
  }
  return (
    <Select
      label={label}
      placeholder={t.type}
      searchable
      clearable
      disabled={disabled}
      data={[...options].map(([id, name]) => ({ value: id, label: name }))}
      filter={({ options: all }) => all}
      value={value}
      onChange={(id) => onChange(id, id ? (options.get(id) ?? "") : "")}
      onSearchChange={setTyped}
      nothingFoundMessage={found.isFetching ? <Loader size="xs" /> : t.nothing}
      comboboxProps={{ withinPortal: true }}
    />
  );
}
