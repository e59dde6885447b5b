import { MultiSelect, Select, Stack, Switch, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import { useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import type { Draft } from "./kinds";
import type { FieldsProps } from "./settings-tab";
import { settingsTexts } from "./settings-texts";

const OWN = "own";

export function AboutFields({ draft, onChange, wrong, wasDefault }: FieldsProps & { wasDefault: boolean }) {
  const t = useTexts(settingsTexts);
  return (
    <Card title={t.about}>
      <Stack>
        <TextInput
          label={t.name}
          description={t.nameHint}
          value={draft.name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
          required
          maxLength={200}
          error={wrong("name")}
        />
        <Switch
          label={t.isActive}
          description={t.isActiveHint}
          checked={draft.is_active}
          onChange={(event) => onChange({ is_active: event.currentTarget.checked })}
          error={wrong("is_active")}
        />
        <Switch
          label={t.isDefault}
          description={t.isDefaultHint}
          checked={draft.is_default}
          disabled={wasDefault}
          onChange={(event) => onChange({ is_default: event.currentTarget.checked })}
          error={wrong("is_default")}
        />
      </Stack>
    </Card>
  );
}

export function AnsweringFields({ draft, onChange, wrong }: FieldsProps) {
  const t = useTexts(settingsTexts);
  const models = useQuery({ queryKey: ["chat models"], queryFn: () => read(api.GET("/public/v1/chats/models")) });
  const spaces = useSpaces();
  const known = models.data?.items ?? [];
  const data = known.map(({ id, name }) => ({
    value: id ?? OWN,
    label: id === null ? t.ownModel(name) : id === "none" ? t.noModel : name,
  }));
  const value = draft.model ?? OWN;
  // One that the operator took away since stays to be seen.
  if (!data.some((each) => each.value === value)) data.push({ value, label: draft.model ?? value });
  return (
    <Card title={t.answering}>
      <Stack>
        <Select
          label={t.model}
          description={t.modelHint}
          data={data}
          value={value}
          onChange={(next) => onChange({ model: next === OWN ? null : next })}
          allowDeselect={false}
          error={wrong("model")}
        />
        <Textarea
          label={t.instructions}
          description={t.instructionsHint}
          value={draft.instructions}
          onChange={(event) => onChange({ instructions: event.currentTarget.value })}
          autosize
          minRows={3}
          maxRows={14}
          maxLength={8000}
          error={wrong("instructions")}
        />
        <MultiSelect
          label={t.spaces}
          description={t.spacesHint}
          placeholder={draft.default_space_ids.length ? "" : t.allSpaces}
          data={spaces}
          value={draft.default_space_ids}
          onChange={(default_space_ids) => onChange({ default_space_ids })}
          searchable
          error={wrong("default_space_ids")}
        />
        <MultiSelect
          label={t.tools}
          description={t.toolsHint}
          placeholder={draft.tools ? "" : t.allTools}
          data={Object.entries(t.toolNames).map(([value, label]) => ({ value, label }))}
          value={draft.tools ?? []}
          onChange={(tools) => onChange({ tools: tools.length ? (tools as NonNullable<Draft["tools"]>) : null })}
          error={wrong("tools")}
        />
      </Stack>
    </Card>
  );
}

/** The spaces to choose from. */
export function useSpaces(): { value: string; label: string }[] {
  const spaces = useQuery({
    queryKey: ["spaces", "to choose"],
    queryFn: () => read(api.GET("/public/v1/kb/spaces", { params: { query: { limit: 100 } } })),
  });
  return (spaces.data?.items ?? []).map((space) => ({ value: space.id, label: space.name }));
}
