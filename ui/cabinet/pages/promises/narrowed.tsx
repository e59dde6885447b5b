import { CloseButton, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import { useFormat, useTexts } from "../../i18n/language";
import { texts } from "./texts";

interface NarrowedProps {
  speaker: string | null;
  from: string | null;
  to: string | null;
  onClear: (values: Record<string, null>) => void;
}

/** What a link from another page narrowed the list down to: the period of a figure, or a person. */
export function Narrowed({ speaker, from, to, onClear }: NarrowedProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const person = useQuery({
    queryKey: ["person", speaker],
    enabled: speaker !== null,
    queryFn: () =>
      read(api.GET("/public/v1/speakers/{speaker_id}", { params: { path: { speaker_id: speaker ?? "" } } })),
  });
  // Anybody may have written the address.
  const day = (written: string | null) =>
    Number.isNaN(Date.parse(`${written}T00:00:00Z`)) ? "…" : format.date(written ?? "");
  if (!speaker && !from && !to) return null;
  return (
    <Group gap="xs" mb="xs">
      {(from || to) && (
        <Condition onClear={() => onClear({ from: null, to: null })}>{t.made(day(from), day(to))}</Condition>
      )}
      {speaker && (
        <Condition onClear={() => onClear({ speaker: null })}>
          {t.of(person.data?.name || person.data?.external_id || "…")}
        </Condition>
      )}
    </Group>
  );
}

function Condition({ children, onClear }: { children: string; onClear: () => void }) {
  const t = useTexts(texts);
  return (
    <Group gap={2} wrap="nowrap">
      <Text size="sm" c="var(--soft)">
        {children}
      </Text>
      <CloseButton size="sm" aria-label={t.without(children)} onClick={onClear} />
    </Group>
  );
}
