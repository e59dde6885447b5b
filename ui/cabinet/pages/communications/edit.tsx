import { Button, Group, Select, Stack, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useState } from "react";
import { api, read } from "../../api/client";
import { type Texts, useTexts } from "../../i18n/language";
import { useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import type { Item } from "./kinds";
import type { Voice } from "./voices";

const texts: Texts<{ text: string; who: string; save: string; cancel: string; done: string }> = {
  en: {
    text: "What was said",
    who: "Who said it",
    save: "Save",
    cancel: "Cancel",
    done: "Corrected. What was there before is in the history.",
  },
  ru: {
    text: "Что было сказано",
    who: "Кто это сказал",
    save: "Сохранить",
    cancel: "Отмена",
    done: "Исправлено. Прежний текст остался в истории.",
  },
};

interface EditProps {
  id: string;
  item: Item;
  voices: Voice[];
  /** Told whether there is something to save. */
  onChanged: (isChanged: boolean) => void;
  onDone: () => void;
}

/** Another text, or another speaker, for one turn. */
export function Edit({ id, item, voices, onChanged, onDone }: EditProps) {
  const t = useTexts(texts);
  const failed = useSayFailure();
  const [text, setText] = useState(item.text);
  const [label, setLabel] = useState(item.label);
  const save = useMutation({
    mutationFn: () =>
      read(
        api.PATCH("/public/v1/communications/{communication_id}/content/{idx}", {
          params: { path: { communication_id: id, idx: item.idx } },
          body: { text, ...(label && label !== item.label ? { label } : {}) },
        }),
      ),
    onSuccess: () => {
      sayDone(t.done);
      onDone();
    },
    onError: failed,
  });
  const isSame = text === item.text && label === item.label;
  useEffect(() => {
    onChanged(!isSame);
    return () => onChanged(false);
  }, [isSame, onChanged]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") onDone();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !isSame) save.mutate();
  };
  const named = voices.filter((voice) => voice.label);
  return (
    <Stack gap="xs" onKeyDown={onKeyDown}>
      <Textarea
        label={t.text}
        autosize
        minRows={2}
        maxRows={12}
        value={text}
        data-autofocus
        autoFocus
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {named.length > 1 && (
        <Select
          label={t.who}
          allowDeselect={false}
          data={named.map((voice) => ({ value: voice.label, label: voice.name }))}
          value={label}
          onChange={setLabel}
        />
      )}
      <Group gap="xs" justify="flex-end">
        <Button size="xs" variant="default" onClick={onDone}>
          {t.cancel}
        </Button>
        <Button size="xs" loading={save.isPending} disabled={isSame || !text.trim()} onClick={() => save.mutate()}>
          {t.save}
        </Button>
      </Group>
    </Stack>
  );
}
