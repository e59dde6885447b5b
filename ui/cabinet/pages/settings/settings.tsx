import {
  Alert,
  Button,
  Group,
  Input,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { mayAct } from "../../app/session";
import { useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { sayDone } from "../../parts/notify";
import { useRefusalText, useWrongField } from "../../parts/refused-fields";
import { Loaded } from "../../parts/states";
import { UnsavedGuard } from "../../parts/unsaved";
import { SettingsPage } from "./frame";
import { texts } from "./settings-texts";

type Settings = components["schemas"]["AccountSettings"];
type Patch = components["schemas"]["SettingsPatch"];
type Shown = Pick<Settings, "name" | "time_zone" | "language" | "widget_origins" | "memory" | "qc" | "voices">;

const FIELDS = [
  "name",
  "time_zone",
  "language",
  "widget_origins",
  "memory",
  "qc",
  "voices",
] as const satisfies (keyof Shown)[];
const ZONES = Intl.supportedValuesOf("timeZone");

export default function SettingsAccount() {
  const t = useTexts(texts);
  const query = useQuery({ queryKey: ["settings"], queryFn: () => read(api.GET("/public/v1/settings")) });
  const [isOld, setOld] = useState(false);
  // By then the guard of the form has let go of the page.
  useEffect(() => {
    if (isOld) window.location.reload();
  }, [isOld]);
  return (
    <SettingsPage title={t.title} lead={t.lead}>
      <Loaded query={query}>
        {(found) => <Form key={JSON.stringify(found)} found={found} isOld={isOld} setOld={setOld} />}
      </Loaded>
    </SettingsPage>
  );
}

interface FormProps {
  found: Settings;
  /** Whether the page is to be loaded anew, since what the server wrote into it has changed. */
  isOld: boolean;
  setOld: (isOld: boolean) => void;
}

function Form({ found, isOld, setOld }: FormProps) {
  const t = useTexts(texts);
  const said = useRefusalText();
  const [draft, setDraft] = useState<Shown>(found);
  const set = <K extends keyof Shown>(name: K, value: Shown[K]) => setDraft((before) => ({ ...before, [name]: value }));
  const changed = FIELDS.filter((name) => JSON.stringify(draft[name]) !== JSON.stringify(found[name]));
  const save = useMutation({
    mutationFn: () => {
      const body = Object.fromEntries(changed.map((name) => [name, draft[name]])) as Patch;
      return read(api.PATCH("/public/v1/settings", { body }));
    },
    onSuccess: () => {
      sayDone(t.saved);
      // These are written into the page by the server.
      if (changed.includes("name") || changed.includes("time_zone")) setOld(true);
    },
  });
  const isOwner = mayAct("owner");
  const wrong = useWrongField(save.error);
  const zones = ZONES.includes(draft.time_zone) ? ZONES : [draft.time_zone, ...ZONES];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <UnsavedGuard isChanged={changed.length > 0 && !isOld} />
      <Stack gap="lg">
        {!isOwner && <Alert variant="light">{t.ownersOnly}</Alert>}
        <Card title={t.account}>
          <Stack maw={460}>
            <TextInput
              label={t.name}
              description={t.nameHint}
              value={draft.name}
              maxLength={200}
              required
              readOnly={!isOwner}
              error={wrong("name")}
              onChange={(event) => set("name", event.currentTarget.value)}
            />
            <Select
              label={t.zone}
              description={t.zoneHint}
              data={zones}
              value={draft.time_zone}
              searchable
              allowDeselect={false}
              disabled={!isOwner}
              error={wrong("time_zone")}
              nothingFoundMessage={t.noZone}
              onChange={(value) => value && set("time_zone", value)}
            />
            <Input.Wrapper
              label={t.language}
              labelElement="div"
              labelProps={{ id: "language-label" }}
              description={t.languageHint}
              inputWrapperOrder={["label", "description", "input"]}
            >
              <SegmentedControl
                mt={4}
                aria-labelledby="language-label"
                value={draft.language}
                disabled={!isOwner}
                onChange={(value) => set("language", value === "en" ? "en" : "ru")}
                data={[
                  { value: "ru", label: "Русский" },
                  { value: "en", label: "English" },
                ]}
              />
            </Input.Wrapper>
          </Stack>
        </Card>
        <Card title={t.analysis}>
          <Stack>
            {(["memory", "qc", "voices"] as const).map((name) => (
              <Switch
                key={name}
                label={t[name]}
                description={t[`${name}Hint`]}
                checked={draft[name]}
                disabled={!isOwner}
                onChange={(event) => set(name, event.currentTarget.checked)}
              />
            ))}
          </Stack>
        </Card>
        <Card title={t.widget}>
          <TagsInput
            label={t.origins}
            description={t.originsHint}
            placeholder="https://shop.example"
            value={draft.widget_origins}
            disabled={!isOwner}
            acceptValueOnBlur
            splitChars={[",", " "]}
            error={wrong("widget_origins")}
            maw={620}
            onChange={(value) => set("widget_origins", value)}
          />
        </Card>
        {isOwner && (
          <Group>
            <Button type="submit" disabled={changed.length === 0} loading={save.isPending}>
              {t.save}
            </Button>
            {changed.length > 0 && (
              <Button variant="default" onClick={() => setDraft(found)}>
                {t.undo}
              </Button>
            )}
            {save.isError && (
              <Text c="red" size="sm" role="alert">
                {said(save.error)}
              </Text>
            )}
          </Group>
        )}
      </Stack>
    </form>
  );
}
