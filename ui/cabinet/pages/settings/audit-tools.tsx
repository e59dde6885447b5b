import { Badge, Group, Modal, Select, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconRobot } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { useFormat, useTexts } from "../../i18n/language";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import { texts } from "./audit-texts";
import classes from "./settings.module.css";

type ToolCall = components["schemas"]["ToolCallRecord"];

const LIMIT = 50;
export const TOOLS = [
  "search_speakers",
  "search_communications",
  "search_commitments",
  "search_memory",
  "get_period_metrics",
  "rank_people",
  "rank_signals",
  "rank_qc",
  "get_communication",
  "get_qc_evaluation",
  "search_documents",
  "search_product_docs",
  "list_kb_spaces",
  "list_kb_documents",
  "list_kb_chunks",
];

/** What agents called over MCP, and chats for their answers. */
export function ToolCalls() {
  const t = useTexts(texts);
  const [tool, setTool] = useState<string | null>(null);
  const [outcome, setOutcome] = useState<ToolCall["outcome"] | null>(null);
  const [offset, setOffset] = useState(0);
  const [open, setOpen] = useState<ToolCall | null>(null);
  const query = useQuery({
    queryKey: ["tool-calls", tool, outcome, offset],
    queryFn: () =>
      read(
        api.GET("/public/v1/tool-calls", {
          params: { query: { limit: LIMIT, offset, ...(tool && { tool }), ...(outcome && { outcome }) } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <Group gap="sm" mb="md">
        <Select
          aria-label={t.tool}
          placeholder={t.anyTool}
          clearable
          searchable
          w={240}
          data={[...TOOLS, "resources/read", "prompts/get"]}
          value={tool}
          onChange={(value) => {
            setTool(value);
            setOffset(0);
          }}
        />
        <Select
          aria-label={t.outcome}
          placeholder={t.anyOutcome}
          clearable
          w={200}
          data={[
            { value: "ok", label: t.ok },
            { value: "error", label: t.error },
          ]}
          value={outcome}
          onChange={(value) => {
            setOutcome(value as ToolCall["outcome"] | null);
            setOffset(0);
          }}
        />
      </Group>
      <Loaded query={query}>
        {({ items, pagination }) =>
          items.length === 0 ? (
            <Empty
              icon={<IconRobot size={36} stroke={1.4} aria-hidden />}
              title={tool || outcome ? t.nothing : t.emptyTools}
            >
              {!(tool || outcome) && t.emptyToolsText}
            </Empty>
          ) : (
            <>
              {items.map((call) => (
                <CallLine key={call.id} call={call} onOpen={() => setOpen(call)} />
              ))}
              <Pages {...pagination} onOffset={setOffset} />
            </>
          )
        }
      </Loaded>
      <Modal
        opened={open !== null}
        onClose={() => setOpen(null)}
        size="lg"
        title={open?.tool}
        closeButtonProps={{ "aria-label": t.close }}
      >
        {open && <Details call={open} />}
      </Modal>
    </>
  );
}

function CallLine({ call, onOpen }: { call: ToolCall; onOpen: () => void }) {
  const t = useTexts(texts);
  const { moment, number } = useFormat();
  const asked = Object.entries(call.arguments)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
  return (
    <UnstyledButton className={`${classes.line} ${classes.open}`} onClick={onOpen} w="100%">
      <Group justify="space-between" align="flex-start" gap="xs">
        <Stack gap={2} flex="1 1 18rem" miw={0}>
          <Group gap="xs">
            <Text size="sm" fw={600} ff="monospace">
              {call.tool}
            </Text>
            {call.outcome === "error" && (
              <Badge color="red" variant="light" tt="none">
                {t.error}
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed">
            {call.actor}
            {call.client && ` · ${call.client}`} · {number(call.duration_ms)} {t.ms}
            {call.items !== null && ` · ${t.items} ${number(call.items)}`}
          </Text>
          {asked && (
            <Text size="xs" c="dimmed" lineClamp={2}>
              {asked}
            </Text>
          )}
        </Stack>
        <Text size="sm" c="dimmed">
          {moment(call.at)}
        </Text>
      </Group>
    </UnstyledButton>
  );
}

function Details({ call }: { call: ToolCall }) {
  const t = useTexts(texts);
  const { moment, number } = useFormat();
  const facts: [string, string | null][] = [
    [t.at, moment(call.at)],
    [t.by, call.actor],
    [t.client, call.client],
    [t.protocol, call.protocol_version],
    [t.lasted, `${number(call.duration_ms)} ${t.ms}`],
    [t.items, call.items === null ? null : number(call.items)],
    [t.request, call.request_id],
  ];
  return (
    <Stack>
      {call.error && (
        <Text c="red" size="sm">
          {call.error}
        </Text>
      )}
      <Stack gap={4}>
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <Text key={name} size="sm">
              <Text span c="dimmed">
                {name}:{" "}
              </Text>
              {value}
            </Text>
          ))}
      </Stack>
      <Text fw={600} size="sm">
        {t.arguments}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre className={classes.pre} tabIndex={0}>
        {JSON.stringify(call.arguments, null, 2)}
      </pre>
    </Stack>
  );
}
