import {
  ColorInput,
  Group,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { type ReactNode, useId } from "react";
import { useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { useSpaces } from "./settings-answering";
import type { FieldsProps } from "./settings-tab";
import { settingsTexts } from "./settings-texts";

const SWATCHES = ["#0f6b5c", "#1f6feb", "#6741d9", "#c2255c", "#d9480f", "#2b8a3e", "#343a40"];
const SITE_TOOLS = ["search_communications", "get_communication"];

export function WidgetFields({ draft, onChange, wrong }: FieldsProps) {
  const t = useTexts(settingsTexts);
  const theme = (values: Partial<typeof draft.theme>) => onChange({ theme: { ...draft.theme, ...values } });
  return (
    <Card title={t.site}>
      <Stack>
        <TextInput
          label={t.header}
          value={draft.header_title}
          onChange={(event) => onChange({ header_title: event.currentTarget.value })}
          required
          maxLength={200}
          error={wrong("header_title")}
        />
        <Textarea
          label={t.greeting}
          value={draft.greeting}
          onChange={(event) => onChange({ greeting: event.currentTarget.value })}
          autosize
          minRows={2}
          maxRows={6}
          maxLength={1000}
          error={wrong("greeting")}
        />
        <Textarea
          label={t.suggestions}
          description={t.suggestionsHint}
          value={draft.suggestions.join("\n")}
          onChange={(event) => {
            const lines = event.currentTarget.value.split("\n");
            onChange({ suggestions: lines.length === 1 && !lines[0] ? [] : lines });
          }}
          autosize
          minRows={2}
          maxRows={8}
          error={wrong("suggestions")}
        />
        <Group align="flex-start" gap="lg">
          <ColorInput
            label={t.accent}
            value={draft.theme.accent ?? ""}
            placeholder="#0f6b5c"
            onChange={(accent) => theme({ accent: accent || null })}
            swatches={SWATCHES}
            format="hex"
            w={180}
            error={wrong("theme")}
            eyeDropperButtonProps={{ "aria-label": t.accent }}
          />
          <Choice label={t.scheme}>
            {(id) => (
              <SegmentedControl
                aria-labelledby={id}
                value={draft.theme.scheme ?? "auto"}
                onChange={(scheme) => theme({ scheme: scheme as "auto" })}
                data={(["auto", "light", "dark"] as const).map((value) => ({ value, label: t.schemes[value] }))}
                orientation="horizontal"
                size="xs"
              />
            )}
          </Choice>
          <Choice label={t.position}>
            {(id) => (
              <SegmentedControl
                aria-labelledby={id}
                value={draft.theme.position ?? "right"}
                onChange={(position) => theme({ position: position as "right" })}
                data={(["left", "right"] as const).map((value) => ({ value, label: t.positions[value] }))}
                size="xs"
              />
            )}
          </Choice>
        </Group>
        <MultiSelect
          label={t.languages}
          description={t.languagesHint}
          data={[
            { value: "ru", label: "Русский" },
            { value: "en", label: "English" },
          ]}
          value={draft.languages}
          onChange={(languages) => onChange({ languages })}
          error={wrong("languages")}
        />
      </Stack>
    </Card>
  );
}

function Choice({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500} id={id}>
        {label}
      </Text>
      {children(id)}
    </Stack>
  );
}

export function VisitorFields({ draft, onChange, wrong }: FieldsProps) {
  const t = useTexts(settingsTexts);
  const spaces = useSpaces();
  return (
    <Card title={t.visitors}>
      <Stack>
        <MultiSelect
          label={t.siteSpaces}
          description={t.siteSpacesHint}
          data={spaces}
          value={draft.site_space_ids}
          onChange={(site_space_ids) => onChange({ site_space_ids })}
          searchable
          error={wrong("site_space_ids")}
        />
        <MultiSelect
          label={t.siteTools}
          description={t.siteToolsHint}
          data={SITE_TOOLS.map((name) => ({ value: name, label: t.toolNames[name] ?? name }))}
          value={draft.site_tools}
          onChange={(site_tools) => onChange({ site_tools })}
          error={wrong("site_tools")}
        />
        <NumberInput
          label={t.perDay}
          description={t.perDayHint}
          value={draft.messages_per_day ?? ""}
          onChange={(value) => onChange({ messages_per_day: typeof value === "number" ? value : null })}
          min={1}
          max={1_000_000}
          allowDecimal={false}
          w={{ base: "100%", xs: 320 }}
          error={wrong("messages_per_day")}
        />
        <Textarea
          label={t.origins}
          description={t.originsHint}
          value={draft.allowed_origins.join("\n")}
          onChange={(event) => {
            const lines = event.currentTarget.value.split("\n");
            onChange({ allowed_origins: lines.length === 1 && !lines[0] ? [] : lines });
          }}
          autosize
          minRows={2}
          maxRows={8}
          error={wrong("allowed_origins")}
        />
      </Stack>
    </Card>
  );
}
