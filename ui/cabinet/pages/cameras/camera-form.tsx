import { Alert, Button, Checkbox, Group, Modal, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useNavigate } from "react-router";
import { api, read } from "../../api/client";
import { type Texts, useTexts } from "../../i18n/language";
import { useWrongField } from "../../parts/refused-fields";
import { useFailureText } from "../../parts/states";
import { SCENARIOS, type Scenario, type Stream, words } from "./kinds";

const texts: Texts<{
  make: string;
  edit: string;
  name: string;
  placeholder: string;
  url: string;
  urlHint: string;
  urlEdit: (shown: string) => string;
  transport: string;
  scenarios: string;
  webhook: string;
  webhookHint: string;
  create: string;
  save: string;
  cancel: string;
  close: string;
}> = {
  en: {
    make: "Add a camera",
    edit: "Change the camera",
    name: "Name",
    placeholder: "Entrance",
    url: "Address",
    urlHint: "rtsp://user:password@address/stream, H.264. It is kept encrypted and never shown again in full.",
    urlEdit: (shown) => `Now ${shown}. Leave it empty to keep it.`,
    transport: "Transport",
    scenarios: "What to look for",
    webhook: "Webhook",
    webhookHint: "Told of each event. May stay empty.",
    create: "Add",
    save: "Save",
    cancel: "Cancel",
    close: "Close",
  },
  ru: {
    make: "Добавить камеру",
    edit: "Изменить камеру",
    name: "Название",
    placeholder: "Вход",
    url: "Адрес",
    urlHint: "rtsp://логин:пароль@адрес/поток, H.264. Хранится в зашифрованном виде и целиком больше не показывается.",
    urlEdit: (shown) => `Сейчас ${shown}. Оставьте пустым, чтобы не менять.`,
    transport: "Транспорт",
    scenarios: "Что искать",
    webhook: "Вебхук",
    webhookHint: "Получает каждое событие. Можно не заполнять.",
    create: "Добавить",
    save: "Сохранить",
    cancel: "Отмена",
    close: "Закрыть",
  },
};

interface CameraFormProps {
  opened: boolean;
  onClose: () => void;
  /** The camera to change; without one a new one is registered. */
  stream?: Stream;
}

export function CameraForm({ opened, onClose, stream }: CameraFormProps) {
  const t = useTexts(texts);
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={stream ? t.edit : t.make}
      centered
      closeButtonProps={{ "aria-label": t.close }}
    >
      {opened && <Fields {...(stream ? { stream } : {})} onClose={onClose} />}
    </Modal>
  );
}

function Fields({ stream, onClose }: { stream?: Stream; onClose: () => void }) {
  const t = useTexts(texts);
  const w = useTexts(words);
  const said = useFailureText();
  const go = useNavigate();
  const label = useId();
  const [name, setName] = useState(stream?.name ?? "");
  const [url, setUrl] = useState("");
  const [transport, setTransport] = useState<"tcp" | "udp">(stream?.transport ?? "tcp");
  const [scenarios, setScenarios] = useState<string[]>(stream?.scenarios ?? ["traffic"]);
  const [webhook, setWebhook] = useState(stream?.webhook_url ?? "");
  const save = useMutation({
    mutationFn: () => {
      const webhook_url = webhook.trim() || null;
      const body = { name, transport, scenarios: scenarios as Scenario[], webhook_url };
      if (!stream) return read(api.POST("/vision/v1/streams", { body: { ...body, rtsp_url: url.trim() } }));
      const params = { path: { stream_id: stream.id } };
      const address = url.trim() ? { rtsp_url: url.trim() } : {};
      return read(api.PATCH("/vision/v1/streams/{stream_id}", { params, body: { ...body, ...address } }));
    },
    onSuccess: (saved) => {
      onClose();
      if (!stream) void go(`/cameras/${saved.id}`);
    },
  });
  const wrong = useWrongField(save.error);
  const isElsewhere = !["name", "rtsp_url", "scenarios", "webhook_url"].some(wrong);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack>
        <TextInput
          label={t.name}
          placeholder={t.placeholder}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          maxLength={200}
          error={wrong("name")}
          data-autofocus
        />
        <TextInput
          label={t.url}
          description={stream ? t.urlEdit(stream.rtsp_url) : t.urlHint}
          placeholder="rtsp://"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          required={!stream}
          autoComplete="off"
          spellCheck={false}
          error={wrong("rtsp_url")}
        />
        <Stack gap={4}>
          <Text size="sm" fw={500} id={label}>
            {t.transport}
          </Text>
          <SegmentedControl
            aria-labelledby={label}
            size="xs"
            w="fit-content"
            value={transport}
            onChange={(value) => setTransport(value as "tcp" | "udp")}
            data={[
              { value: "tcp", label: "TCP" },
              { value: "udp", label: "UDP" },
            ]}
          />
        </Stack>
        <Checkbox.Group label={t.scenarios} value={scenarios} onChange={setScenarios} error={wrong("scenarios")}>
          <Stack gap={8} mt={6}>
            {SCENARIOS.map((each) => (
              <Checkbox key={each} value={each} label={w.scenarios[each]} />
            ))}
          </Stack>
        </Checkbox.Group>
        <TextInput
          type="url"
          label={t.webhook}
          description={t.webhookHint}
          placeholder="https://"
          value={webhook}
          onChange={(event) => setWebhook(event.currentTarget.value)}
          error={wrong("webhook_url")}
        />
        {save.isError && isElsewhere && (
          <Alert color="red" role="alert">
            {said(save.error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {stream ? t.save : t.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
