import { Anchor, Button, Group, Modal, SegmentedControl, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { type Details, kindTexts, nameOf } from "./kinds";
import classes from "./page.module.css";
import { PersonSelect } from "./person-select";
import type { Voice } from "./voices";

const texts: Texts<{
  title: string;
  share: (share: string) => string;
  unheard: string;
  who: string;
  change: (name: string) => string;
  close: string;
  known: string;
  fresh: string;
  nobody: string;
  how: string;
  person: string;
  name: string;
  role: string;
  save: string;
  cancel: string;
  done: string;
  merged: string;
}> = {
  en: {
    title: "Who speaks",
    share: (share) => `${share} of the talk`,
    unheard: "takes part, voice not told apart",
    who: "Who is this?",
    change: (name) => `Whose voice is “${name}”?`,
    close: "Close",
    known: "Known person",
    fresh: "New person",
    nobody: "Nobody",
    how: "Whose voice it is",
    person: "Person",
    name: "Name",
    role: "Role",
    save: "Save",
    cancel: "Cancel",
    done: "Saved. Search and figures know it too.",
    merged: "If this person has another voice here already, both become one.",
  },
  ru: {
    title: "Кто говорит",
    share: (share) => `${share} разговора`,
    unheard: "участвует, голос не определён",
    who: "Кто это?",
    change: (name) => `Чей голос «${name}»?`,
    close: "Закрыть",
    known: "Известный человек",
    fresh: "Новый человек",
    nobody: "Никто",
    how: "Чей это голос",
    person: "Человек",
    name: "Имя",
    role: "Роль",
    save: "Сохранить",
    cancel: "Отмена",
    done: "Сохранено. Поиск и показатели это уже знают.",
    merged: "Если у этого человека здесь уже есть другой голос, они станут одним.",
  },
};

/** Whose voices these are, how much each speaks, and a way to set it right. */
export function People({ found, voices }: { found: Details; voices: Map<string, Voice> }) {
  const t = useTexts(texts);
  const { roles } = useTexts(kindTexts);
  const format = useFormat();
  const [asked, setAsked] = useState<Voice | null>(null);
  const heard = [...voices.values()].filter((voice) => voice.label);
  const all = heard.reduce((sum, voice) => sum + voice.ms, 0);
  const ids = new Set(heard.map((voice) => voice.person?.id));
  const silent = found.speakers.filter((person) => !ids.has(person.id));
  if (!heard.length && !silent.length) return null;
  return (
    <Card title={t.title}>
      <Stack gap="sm">
        {heard.map((voice) => (
          <Group key={voice.label} wrap="nowrap" gap="sm" justify="space-between">
            <Group wrap="nowrap" gap={8} miw={0}>
              <span className={classes.dot} style={{ background: voice.colour }} aria-hidden />
              <div>
                {voice.person ? (
                  <Anchor component={Link} to={`/people/${voice.person.id}`} fw={600} size="sm">
                    {voice.name}
                  </Anchor>
                ) : (
                  <Text fw={600} size="sm">
                    {voice.name}
                  </Text>
                )}
                <Text size="xs" c="dimmed">
                  {[
                    voice.person && roles[voice.person.role],
                    all ? t.share(format.percent((100 * voice.ms) / all)) : "",
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                </Text>
              </div>
            </Group>
            {mayAct("operator") && (
              <Button
                size="compact-xs"
                variant={voice.person ? "subtle" : "light"}
                aria-label={`${t.who} ${voice.name}`}
                onClick={() => setAsked(voice)}
                style={{ flex: "none" }}
              >
                {t.who}
              </Button>
            )}
          </Group>
        ))}
        {silent.map((person) => (
          <div key={person.id}>
            <Anchor component={Link} to={`/people/${person.id}`} fw={600} size="sm">
              {nameOf(person)}
            </Anchor>
            <Text size="xs" c="dimmed">
              {[roles[person.role], t.unheard].filter(Boolean).join(" · ")}
            </Text>
          </div>
        ))}
      </Stack>
      {asked && <Whose id={found.id} voice={asked} onClose={() => setAsked(null)} />}
    </Card>
  );
}

type How = "known" | "fresh" | "nobody";
type Role = "client" | "sales" | "support" | "employee";

function Whose({ id, voice, onClose }: { id: string; voice: Voice; onClose: () => void }) {
  const t = useTexts(texts);
  const { roles } = useTexts(kindTexts);
  const failed = useSayFailure();
  const [how, setHow] = useState<How>("known");
  const [personId, setPersonId] = useState<string | null>(voice.person?.id ?? null);
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("client");
  const save = useMutation({
    mutationFn: () =>
      read(
        api.PATCH("/public/v1/communications/{communication_id}/speakers", {
          params: { path: { communication_id: id } },
          body: {
            label: voice.label,
            ...(how === "known" && personId ? { speaker_id: personId } : {}),
            ...(how === "fresh" ? { name: name.trim(), role } : {}),
          },
        }),
      ),
    onSuccess: () => {
      sayDone(t.done);
      onClose();
    },
    onError: failed,
  });
  const isReady = how === "nobody" || (how === "known" ? personId !== null : name.trim() !== "");
  return (
    <Modal opened onClose={onClose} title={t.change(voice.name)} centered closeButtonProps={{ "aria-label": t.close }}>
      <Stack>
        <SegmentedControl
          aria-label={t.how}
          fullWidth
          data={[
            { value: "known", label: t.known },
            { value: "fresh", label: t.fresh },
            { value: "nobody", label: t.nobody },
          ]}
          value={how}
          onChange={(value) => setHow(value as How)}
        />
        {how === "known" && (
          <>
            <PersonSelect label={t.person} value={personId} onChange={setPersonId} />
            <Text size="xs" c="dimmed">
              {t.merged}
            </Text>
          </>
        )}
        {how === "fresh" && (
          <>
            <TextInput
              label={t.name}
              value={name}
              maxLength={200}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <Select
              label={t.role}
              allowDeselect={false}
              data={(["client", "sales", "support", "employee"] as const).map((each) => ({
                value: each,
                label: roles[each] ?? each,
              }))}
              value={role}
              onChange={(value) => setRole((value ?? "client") as Role)}
            />
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button loading={save.isPending} disabled={!isReady} onClick={() => save.mutate()}>
            {t.save}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
