import { Alert, Anchor, Badge, Button, Group, Stack, Table, Tabs, Text, TextInput } from "@mantine/core";
import { IconCircleCheck, IconKey, IconPlugConnected } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { mayAct, session } from "../../app/session";
import { useLanguage, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Code, Copy } from "../../parts/code";
import { Page } from "../../parts/page";
import { useFailureText } from "../../parts/states";
import { CLIENTS } from "./clients";
import { texts, toolUses } from "./texts";
import { ConnectionRefused, listTools } from "./try";

const PLACEHOLDER = "sk_live_...";

export default function ConnectPage() {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const [key, setKey] = useState<string | null>(null);
  return (
    <Page title={t.title} lead={t.lead}>
      <Card title={t.first}>
        <KeyStep made={key} onMade={setKey} />
      </Card>
      <Card title={t.second}>
        <Tabs defaultValue={CLIENTS[0]?.id ?? null} keepMounted={false}>
          <Tabs.List mb="md">
            {CLIENTS.map((client) => (
              <Tabs.Tab key={client.id} value={client.id}>
                {client.name}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {CLIENTS.map((client) => (
            <Tabs.Panel key={client.id} value={client.id}>
              <Stack>
                <Text size="sm">{client.hint[language]}</Text>
                {client.steps(session.urls.mcp, key ?? PLACEHOLDER).map((step) => (
                  <Code key={step.label} label={step.label} text={step.text} />
                ))}
                {!key && (
                  <Text size="sm" c="dimmed">
                    {t.fillIn}
                  </Text>
                )}
              </Stack>
            </Tabs.Panel>
          ))}
        </Tabs>
        <Group mt="md" gap="xs">
          <Text size="sm" c="dimmed">
            {t.address}
          </Text>
          <code>{session.urls.mcp}</code>
          <Copy text={session.urls.mcp} what={t.address} />
        </Group>
      </Card>
      <Card title={t.third}>
        <Trial given={key} />
      </Card>
      <Card title={t.tools}>
        <Text size="sm" c="dimmed" mb="sm">
          {t.toolsLead}{" "}
          <Anchor component={Link} to="/settings/audit?of=tools" size="sm" underline="always">
            {t.audit}
          </Anchor>
        </Text>
        <Table verticalSpacing="xs">
          <Table.Tbody>
            {Object.entries(toolUses[language]).map(([tool, use]) => (
              <Table.Tr key={tool}>
                <Table.Td>
                  <Text size="sm" ff="monospace" fw={600}>
                    {tool}
                  </Text>
                  <Text size="sm" c="dimmed">
                    {use}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Card>
    </Page>
  );
}

/** A key of its own for the agent, made on the spot: it is seen here until the page is left. */
function KeyStep({ made, onMade }: { made: string | null; onMade: (key: string) => void }) {
  const t = useTexts(texts);
  const said = useFailureText();
  const [name, setName] = useState("");
  const make = useMutation({
    mutationFn: () => read(api.POST("/public/v1/keys", { body: { name: name.trim() } })),
    onSuccess: ({ api_key }) => onMade(api_key),
  });
  if (made) {
    return (
      <Stack gap="sm">
        <Alert color="yellow" variant="light" role="status">
          {t.once}
        </Alert>
        <Code label={make.data?.name ?? ""} text={made} />
      </Stack>
    );
  }
  if (!mayAct("owner")) return <Text size="sm">{t.askOwner}</Text>;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t.keyLead}</Text>
        <Group align="flex-end" gap="sm">
          <TextInput
            label={t.keyName}
            placeholder="Claude"
            value={name}
            maxLength={200}
            required
            flex="1 1 14rem"
            maw={360}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" leftSection={<IconKey size={18} />} disabled={!name.trim()} loading={make.isPending}>
            {t.makeKey}
          </Button>
        </Group>
        {make.isError && (
          <Text c="red" size="sm" role="alert">
            {said(make.error)}
          </Text>
        )}
      </Stack>
    </form>
  );
}

/** Asks for the list of tools as an agent does, by the key that is in the field. */
function Trial({ given }: { given: string | null }) {
  const t = useTexts(texts);
  const said = useFailureText();
  const [typed, setTyped] = useState("");
  const key = given ?? typed.trim();
  const ask = useMutation({ mutationFn: () => listTools(key) });
  const failure = ask.error;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        ask.mutate();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t.tryLead}</Text>
        <Group align="flex-end" gap="sm">
          {!given && (
            <TextInput
              label={t.key}
              placeholder={PLACEHOLDER}
              value={typed}
              autoComplete="off"
              spellCheck={false}
              flex="1 1 14rem"
              maw={420}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          <Button
            type="submit"
            variant={given ? "filled" : "default"}
            leftSection={<IconPlugConnected size={18} />}
            disabled={!key}
            loading={ask.isPending}
          >
            {t.tryNow}
          </Button>
        </Group>
        {ask.data && (
          <Alert color="green" variant="light" role="status" icon={<IconCircleCheck />} title={t.works}>
            <Group gap={6}>
              {ask.data.map((tool) => (
                <Badge key={tool} variant="outline" color="gray" tt="none" ff="monospace">
                  {tool}
                </Badge>
              ))}
            </Group>
          </Alert>
        )}
        {ask.isError && (
          <Alert color="red" variant="light" role="alert">
            {failure instanceof ConnectionRefused ? t.refused : said(failure)}
          </Alert>
        )}
      </Stack>
    </form>
  );
}
