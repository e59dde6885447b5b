import { Avatar, Button, Group, Modal, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconArrowRight, IconSearch } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { useFormat, useTexts } from "../../i18n/language";
import { useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { Waiting } from "../../parts/states";
import { usePeople } from "./list";
import classes from "./people.module.css";
import type { Person } from "./person";
import { AVATAR_COLOURS, roles, texts } from "./texts";

const SHOWN = 8;
const WAIT_MS = 250;
type Found = components["schemas"]["SpeakerItem"];

/** Finds the other profile of a person, and makes both one. */
export function MergePerson({ person, onClose }: { person: Person; onClose: () => void }) {
  const t = useTexts(texts);
  const [gone, setGone] = useState<Found | null>(null);
  const kept = person.name || person.external_id || t.noName;
  return (
    <Modal opened onClose={onClose} title={t.mergeTitle(kept)} centered closeButtonProps={{ "aria-label": t.close }}>
      {gone ? (
        <Last person={person} kept={kept} gone={gone} onBack={() => setGone(null)} onClose={onClose} />
      ) : (
        <Choice person={person} onChoose={setGone} />
      )}
    </Modal>
  );
}

function Choice({ person, onChoose }: { person: Person; onChoose: (found: Found) => void }) {
  const t = useTexts(texts);
  const roleNames = useTexts(roles);
  const format = useFormat();
  const [typed, setTyped] = useState(person.name?.split(" ")[0] ?? "");
  const [query] = useDebouncedValue(typed.trim(), WAIT_MS);
  const found = usePeople(query, null, SHOWN);
  const others = found.data?.pages[0]?.items.filter((each) => each.id !== person.id) ?? [];
  return (
    <Stack gap="sm">
      <Text size="sm" c="var(--soft)">
        {t.mergeLead}
      </Text>
      <TextInput
        aria-label={t.mergeSearch}
        placeholder={t.mergeSearch}
        leftSection={<IconSearch size={17} aria-hidden />}
        value={typed}
        maxLength={200}
        onChange={(event) => setTyped(event.target.value)}
        data-autofocus
      />
      {found.isPending && <Waiting lines={3} height={40} />}
      {found.data && others.length === 0 && (
        <Text size="sm" c="var(--soft)">
          {t.mergeNobody}
        </Text>
      )}
      <div>
        {others.map((each) => (
          <UnstyledButton key={each.id} className={classes.choice} onClick={() => onChoose(each)}>
            <Avatar name={each.name} color="initials" allowedInitialsColors={AVATAR_COLOURS} size={34} aria-hidden />
            <div className={classes.who}>
              <Text size="sm" fw={600} lineClamp={1}>
                {each.name || t.noName}
              </Text>
              <Text size="xs" c="var(--soft)" truncate>
                {[each.external_id, roleNames[each.role], format.count(each.communications, t.contacts)]
                  .filter(Boolean)
                  .join(" · ")}
              </Text>
            </div>
          </UnstyledButton>
        ))}
      </div>
    </Stack>
  );
}

interface LastProps {
  person: Person;
  kept: string;
  gone: Found;
  onBack: () => void;
  onClose: () => void;
}

function Last({ person, kept, gone, onBack, onClose }: LastProps) {
  const t = useTexts(texts);
  const sayFailure = useSayFailure();
  const name = gone.name || gone.external_id || t.noName;
  const merge = useMutation({
    mutationFn: () =>
      read(
        api.POST("/public/v1/speakers/{speaker_id}/merge", {
          params: { path: { speaker_id: person.id } },
          body: { speaker_id: gone.id },
        }),
      ),
    onSuccess: () => {
      sayDone(t.merged(name, kept));
      onClose();
    },
    onError: sayFailure,
  });
  return (
    <Stack>
      <Group gap="sm" wrap="nowrap" justify="center">
        <Avatar name={name} color="initials" allowedInitialsColors={AVATAR_COLOURS} size={48} aria-hidden />
        <IconArrowRight size={20} aria-hidden />
        <Avatar name={kept} color="initials" allowedInitialsColors={AVATAR_COLOURS} size={48} aria-hidden />
      </Group>
      <div>
        <Text size="sm">{t.mergeConfirm(name, kept)}</Text>
        <Text size="sm" c="var(--soft)">
          {t.mergeFinal}
        </Text>
      </div>
      <Group justify="flex-end">
        <Button variant="default" onClick={onBack}>
          {t.cancel}
        </Button>
        <Button loading={merge.isPending} onClick={() => merge.mutate()}>
          {t.mergeAction}
        </Button>
      </Group>
    </Stack>
  );
}
