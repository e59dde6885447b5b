import { Button, Group, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { useTexts } from "../../i18n/language";
import { useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { useRefusalText, useWrongField } from "../../parts/refused-fields";
import { UnsavedGuard } from "../../parts/unsaved";
import { ChatEnd } from "./chat-end";
import classes from "./chats.module.css";
import { type Chat, changesOf, type Draft, draftOf } from "./kinds";
import { Preview } from "./preview";
import { AboutFields, AnsweringFields } from "./settings-answering";
import { settingsTexts } from "./settings-texts";
import { VisitorFields, WidgetFields } from "./settings-widget";
import { Snippet } from "./snippet";

export interface FieldsProps {
  draft: Draft;
  onChange: (values: Partial<Draft>) => void;
  /** What the server has against a field. */
  wrong: (field: keyof Draft) => string | null;
}

/** Everything that is set for a chat, beside the widget as it will look. */
export function SettingsTab({ chat }: { chat: Chat }) {
  const t = useTexts(settingsTexts);
  const failed = useSayFailure();
  const said = useRefusalText();
  const queries = useQueryClient();
  const [edited, setEdited] = useState<Partial<Draft>>({});
  const draft = { ...draftOf(chat), ...edited };
  const changes = changesOf(chat, draft);
  const isChanged = Object.keys(changes).length > 0;
  const save = useMutation({
    mutationFn: () =>
      read(api.PATCH("/public/v1/chats/{chat_id}", { params: { path: { chat_id: chat.id } }, body: changes })),
    onSuccess: (saved) => {
      queries.setQueryData(["chat", chat.id], saved);
      setEdited({});
      sayDone(t.saved);
    },
    onError: (error) => {
      if (!(error instanceof ApiError && error.param)) failed(error);
    },
  });
  const wrong = useWrongField(save.error);
  const fields: FieldsProps = {
    draft,
    onChange: (values) => {
      setEdited((before) => ({ ...before, ...values }));
      if (save.isError) save.reset();
    },
    wrong,
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <UnsavedGuard isChanged={isChanged} />
      <div className={classes.columns}>
        <fieldset disabled={!mayAct("operator")} className={classes.fields}>
          <AboutFields {...fields} wasDefault={chat.is_default} />
          <AnsweringFields {...fields} />
          <WidgetFields {...fields} />
          <VisitorFields {...fields} />
          <Snippet chat={chat} />
          {mayAct("operator") && <ChatEnd chat={chat} />}
          {isChanged && (
            <Group className={classes.bar ?? ""} justify="space-between" gap="xs">
              <Text size="sm" role="status">
                {save.isError ? said(save.error) : t.unsaved}
              </Text>
              <Group gap="xs">
                <Button
                  variant="default"
                  onClick={() => {
                    setEdited({});
                    save.reset();
                  }}
                >
                  {t.discard}
                </Button>
                <Button type="submit" loading={save.isPending}>
                  {t.save}
                </Button>
              </Group>
            </Group>
          )}
        </fieldset>
        <Preview chat={chat} draft={draft} />
      </div>
    </form>
  );
}
