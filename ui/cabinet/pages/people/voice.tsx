import { Button, Group, Text } from "@mantine/core";
import { IconMicrophone, IconMicrophoneOff } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { useFormat, useTexts } from "../../i18n/language";
import { Confirm, useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { Empty } from "../../parts/states";
import type { Person } from "./person";
import { texts } from "./texts";

/** Whether somebody is recognised by their voice, and a way to end that. */
export function Voice({ person }: { person: Person }) {
  const t = useTexts(texts);
  const format = useFormat();
  const sayFailure = useSayFailure();
  const [opened, setOpened] = useState(false);
  const remove = useMutation({
    mutationFn: () =>
      read(api.DELETE("/public/v1/speakers/{speaker_id}/voice", { params: { path: { speaker_id: person.id } } })),
    onSuccess: () => {
      setOpened(false);
      sayDone(t.voiceRemoved);
    },
    onError: sayFailure,
  });
  if (!person.voice) {
    return (
      <Empty icon={<IconMicrophoneOff size={36} stroke={1.4} aria-hidden />} title={t.voiceUnknown}>
        {t.voiceUnknownText}
      </Empty>
    );
  }
  return (
    <Group justify="space-between" gap="md" align="flex-start">
      <Group gap="sm" wrap="nowrap" align="flex-start" maw="40rem">
        <IconMicrophone size={22} aria-hidden />
        <div>
          <Text fw={600}>{t.voiceKnown}</Text>
          <Text size="sm" c="var(--soft)">
            {t.voiceText(format.length(person.voice.clean_s), format.day(person.voice.updated_at))}
          </Text>
        </div>
      </Group>
      {mayAct("operator") && (
        <Button variant="default" onClick={() => setOpened(true)}>
          {t.removeVoice}
        </Button>
      )}
      <Confirm
        opened={opened}
        onClose={() => setOpened(false)}
        title={t.removeVoice}
        action={t.removeVoice}
        pending={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        {t.removeVoiceText}
      </Confirm>
    </Group>
  );
}
