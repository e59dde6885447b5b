import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconCircleCheck, IconCircleX, IconPlugConnected } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { mayAct } from "../../app/session";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { sayDone } from "../../parts/notify";
import { useRefusalText } from "../../parts/refused-fields";
import { Loaded } from "../../parts/states";
import { Deliveries } from "./deliveries";
import { SettingsPage } from "./frame";
import classes from "./settings.module.css";
import { texts } from "./webhooks-texts";

type Result = components["schemas"]["WebhookTestResult"];

export default function SettingsWebhooks() {
  const t = useTexts(texts);
  const query = useQuery({ queryKey: ["settings"], queryFn: () => read(api.GET("/public/v1/settings")) });
  return (
    <SettingsPage title={t.title} lead={t.lead}>
      <Card title={t.address}>
        <Loaded query={query}>{({ webhook_url }) => <Address key={webhook_url} url={webhook_url ?? ""} />}</Loaded>
      </Card>
      <Deliveries />
    </SettingsPage>
  );
}

function Address({ url }: { url: string }) {
  const t = useTexts(texts);
  const said = useRefusalText();
  const [typed, setTyped] = useState(url);
  const isOwner = mayAct("owner");
  const save = useMutation({
    mutationFn: (next: string) =>
      read(api.PATCH("/public/v1/settings", { body: { webhook_url: next.trim() || null } })),
    onSuccess: (_, next) => sayDone(next.trim() ? t.saved : t.off),
  });
  const test = useMutation({
    mutationFn: () =>
      read(api.POST("/public/v1/settings/webhook-test", { body: { webhook_url: typed.trim() || null } })),
  });
  const failure = save.error ?? test.error;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        test.reset();
        save.mutate(typed);
      }}
    >
      <Stack>
        <TextInput
          label={t.url}
          description={t.urlHint}
          type="url"
          placeholder="https://crm.example.com/parley"
          value={typed}
          maxLength={4096}
          readOnly={!isOwner}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            save.reset();
            test.reset();
          }}
        />
        {isOwner && (
          <Group gap="sm">
            <Button
              type="submit"
              disabled={typed.trim() === url || !typed.trim()}
              loading={save.isPending && !!typed.trim()}
            >
              {t.save}
            </Button>
            <Button
              variant="default"
              leftSection={<IconPlugConnected size={18} />}
              disabled={!typed.trim()}
              loading={test.isPending}
              onClick={() => {
                save.reset();
                test.mutate();
              }}
            >
              {t.test}
            </Button>
            {url && (
              <Button
                variant="subtle"
                color="gray"
                onClick={() => save.mutate("")}
                loading={save.isPending && !typed.trim()}
              >
                {t.switchOff}
              </Button>
            )}
          </Group>
        )}
        {failure && (
          <Alert color="red" variant="light" role="alert" title={t.notSaved} icon={<IconCircleX />}>
            {said(failure)}
          </Alert>
        )}
        {test.data && <TestResult result={test.data} />}
      </Stack>
    </form>
  );
}

function TestResult({ result }: { result: Result }) {
  const t = useTexts(texts);
  const { number } = useFormat();
  return (
    <Alert
      color={result.ok ? "green" : "red"}
      variant="light"
      role="status"
      title={result.ok ? t.tested : t.testFailed}
      icon={result.ok ? <IconCircleCheck /> : <IconCircleX />}
    >
      <Stack gap="xs">
        <Text size="sm">
          {result.status_code ? `HTTP ${result.status_code}, ` : ""}
          {number(result.latency_ms)} {t.ms}
          {result.error ? `. ${result.error}` : ""}
        </Text>
        {result.answer_head && <pre className={classes.pre}>{result.answer_head}</pre>}
      </Stack>
    </Alert>
  );
}
