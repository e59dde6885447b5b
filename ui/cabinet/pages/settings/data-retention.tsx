import { Alert, Button, Group, NumberInput, Select, SimpleGrid, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { mayAct } from "../../app/session";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { Loaded } from "../../parts/states";
import { texts } from "./data-texts";

type Settings = components["schemas"]["AccountSettings"];
type Days = Pick<Settings, "retention" | "audio_retention" | "camera_retention">;

const USUAL = [7, 30, 90, 180, 365, 1095];
const LONGEST = 36_500;
const KEPT_FOR_GOOD = "none";
const OTHER = "other";

/** How long recordings, conversations and what cameras saw are kept, each apart. */
export function Retention() {
  const t = useTexts(texts);
  const query = useQuery({ queryKey: ["settings"], queryFn: () => read(api.GET("/public/v1/settings")) });
  return (
    <Card title={t.keeping}>
      <Text c="var(--soft)" maw="46rem" mb="md">
        {t.keepingLead}
      </Text>
      <Loaded query={query}>{(found) => <Form key={JSON.stringify(daysOf(found))} found={daysOf(found)} />}</Loaded>
    </Card>
  );
}

function daysOf(found: Settings): Days {
  const { retention, audio_retention, camera_retention } = found;
  return { retention, audio_retention, camera_retention };
}

function Form({ found }: { found: Days }) {
  const t = useTexts(texts);
  const sayFailure = useSayFailure();
  const client = useQueryClient();
  const [draft, setDraft] = useState(found);
  const isOwner = mayAct("owner");
  const save = useMutation({
    mutationFn: () => read(api.PATCH("/public/v1/settings", { body: draft })),
    onSuccess: (changed) => {
      client.setQueryData(["settings"], changed);
      sayDone(t.saved);
    },
    onError: sayFailure,
  });
  const isChanged = JSON.stringify(draft) !== JSON.stringify(found);
  const getsShorter = (Object.keys(found) as (keyof Days)[]).some(
    (name) => (draft[name] ?? LONGEST) < (found[name] ?? LONGEST),
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack>
        <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
          <Term
            label={t.texts}
            hint={t.textsHint}
            none={t.forGood}
            value={draft.retention}
            onChange={(retention) => setDraft({ ...draft, retention })}
          />
          <Term
            label={t.audio}
            hint={t.audioHint}
            none={t.asTexts}
            value={draft.audio_retention}
            onChange={(audio_retention) => setDraft({ ...draft, audio_retention })}
          />
          <Term
            label={t.cameras}
            hint={t.camerasHint}
            value={draft.camera_retention}
            onChange={(days) => setDraft({ ...draft, camera_retention: days ?? found.camera_retention })}
          />
        </SimpleGrid>
        {isChanged && getsShorter && (
          <Alert color="orange" variant="light">
            {t.shorter}
          </Alert>
        )}
        {isOwner ? (
          <Group>
            <Button type="submit" disabled={!isChanged} loading={save.isPending}>
              {t.save}
            </Button>
          </Group>
        ) : (
          <Text c="var(--soft)">{t.ownersOnly}</Text>
        )}
      </Stack>
    </form>
  );
}

interface TermProps {
  label: string;
  hint: string;
  /** What no number of days means; a term without it always has one. */
  none?: string;
  value: number | null;
  onChange: (days: number | null) => void;
}

function Term({ label, hint, none, value, onChange }: TermProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const [isOwn, setOwn] = useState(value !== null && !USUAL.includes(value));
  const usual = USUAL.map((days) => ({ value: String(days), label: format.count(days, t.days) }));
  const choices = [...(none ? [{ value: KEPT_FOR_GOOD, label: none }] : []), ...usual];
  return (
    <Stack gap="xs">
      <Select
        label={label}
        description={hint}
        inputWrapperOrder={["label", "input", "description"]}
        data={[...choices, { value: OTHER, label: t.otherDays }]}
        value={isOwn ? OTHER : value === null ? KEPT_FOR_GOOD : String(value)}
        allowDeselect={false}
        disabled={!mayAct("owner")}
        onChange={(chosen) => {
          setOwn(chosen === OTHER);
          if (chosen === OTHER) onChange(value ?? 365);
          else if (chosen) onChange(chosen === KEPT_FOR_GOOD ? null : Number(chosen));
        }}
      />
      {isOwn && (
        <NumberInput
          label={t.ownDays}
          aria-label={`${label}: ${t.ownDays}`}
          value={value ?? ""}
          min={1}
          max={LONGEST}
          allowDecimal={false}
          clampBehavior="strict"
          disabled={!mayAct("owner")}
          onChange={(days) => typeof days === "number" && days >= 1 && onChange(days)}
        />
      )}
    </Stack>
  );
}
