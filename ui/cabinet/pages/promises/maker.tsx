import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import { useTexts } from "../../i18n/language";
import { texts } from "./texts";

const SHOWN = 20;
const WAIT_MS = 250;

/** Chooses whose promises are shown, by a part of the name. */
export function Maker({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) {
  const t = useTexts(texts);
  const [typed, setTyped] = useState("");
  const [query] = useDebouncedValue(typed.trim(), WAIT_MS);
  const found = useQuery({
    queryKey: ["makers", query],
    queryFn: () =>
      read(
        query
          ? api.POST("/public/v1/tools/search_speakers", { body: { limit: SHOWN, query } })
          : api.POST("/public/v1/tools/search_speakers", { body: { limit: SHOWN } }),
      ),
    placeholderData: (old) => old,
  });
  const chosen = useQuery({
    queryKey: ["person", value],
    queryFn: () => read(api.GET("/public/v1/speakers/{speaker_id}", { params: { path: { speaker_id: value ?? "" } } })),
    enabled: value !== null,
  });
  const people = new Map<string, string>();
  if (value) people.set(value, chosen.data?.name || chosen.data?.external_id || "…");
  for (const person of found.data?.items ?? []) people.set(person.id, person.name || person.external_id || "…");
  return (
    <Select
      aria-label={t.person}
      placeholder={t.person}
      clearable
      searchable
      w={220}
      value={value}
      data={[...people].map(([id, label]) => ({ value: id, label }))}
      // What the server found fits, in whatever form of the name.
      filter={({ options }) => options}
      onSearchChange={setTyped}
      nothingFoundMessage={t.nobody}
      onChange={onChange}
    />
  );
}
