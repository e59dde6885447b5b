import { ActionIcon, Badge, Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { IconRefresh, IconSend, IconWebhook } from "@tabler/icons-react";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { mayAct } from "../../app/session";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import classes from "./settings.module.css";
import { texts } from "./webhooks-texts";

type Delivery = components["schemas"]["DeliveryBody"];
type Status = Delivery["status"];

const LIMIT = 20;
const COLOURS: Record<Status, string> = { pending: "yellow", delivered: "green", failed: "red" };
const EVENTS = [
  "transcription.completed",
  "summary.completed",
  "qc.completed",
  "memory.completed",
  "kb.completed",
  "kb.failed",
  "conversation.person_requested",
  "conversation.contact_left",
  "detection.created",
];

/** The log of events that were sent: filtered, looked into, sent again. */
export function Deliveries() {
  const t = useTexts(texts);
  const [status, setStatus] = useState<Status | null>(null);
  const [event, setEvent] = useState<string | null>(null);
  const [offset, setOffset] = useState(0);
  const [openId, setOpenId] = useState<string | null>(null);
  const query = useQuery({
    queryKey: ["deliveries", status, event, offset],
    queryFn: () =>
      read(
        api.GET("/public/v1/webhook-deliveries", {
          params: { query: { limit: LIMIT, offset, ...(status && { status }), ...(event && { event }) } },
        }),
      ),
    placeholderData: keepPreviousData,
    // What is on its way changes by itself.
    refetchInterval: ({ state }) => (state.data?.items.some((each) => each.status === "pending") ? 5000 : false),
  });
  const open = query.data?.items.find((each) => each.id === openId);
  return (
    <Card
      title={t.log}
      actions={
        <ActionIcon variant="subtle" color="gray" aria-label={t.refresh} onClick={() => void query.refetch()}>
          <IconRefresh size={18} />
        </ActionIcon>
      }
    >
      <Group gap="sm" mb="md">
        <Select
          aria-label={t.status}
          placeholder={t.anyStatus}
          clearable
          w={190}
          data={(["pending", "delivered", "failed"] as const).map((each) => ({ value: each, label: t.statuses[each] }))}
          value={status}
          onChange={(value) => {
            setStatus(value as Status | null);
            setOffset(0);
          }}
        />
        <Select
          aria-label={t.event}
          placeholder={t.anyEvent}
          clearable
          searchable
          w={260}
          data={EVENTS}
          value={event}
          onChange={(value) => {
            setEvent(value);
            setOffset(0);
          }}
        />
      </Group>
      <Loaded query={query}>
        {({ items, pagination }) =>
          items.length === 0 ? (
            <Empty
              icon={<IconWebhook size={36} stroke={1.4} aria-hidden />}
              title={status || event ? t.nothing : t.empty}
            >
              {!(status || event) && t.emptyText}
            </Empty>
          ) : (
            <>
              {items.map((each) => (
                <DeliveryLine key={each.id} delivery={each} onOpen={() => setOpenId(each.id)} />
              ))}
              <Pages {...pagination} onOffset={setOffset} />
            </>
          )
        }
      </Loaded>
      <Modal
        opened={open !== undefined}
        onClose={() => setOpenId(null)}
        size="xl"
        title={open?.event}
        closeButtonProps={{ "aria-label": t.close }}
      >
        {open && <Details delivery={open} />}
      </Modal>
    </Card>
  );
}

function StatusBadge({ status }: { status: Status }) {
  const t = useTexts(texts);
  return (
    <Badge color={COLOURS[status]} variant="light" tt="none">
      {t.statuses[status]}
    </Badge>
  );
}

function DeliveryLine({ delivery, onOpen }: { delivery: Delivery; onOpen: () => void }) {
  const t = useTexts(texts);
  const { moment, ago } = useFormat();
  return (
    <Group className={classes.line ?? ""} justify="space-between" gap="sm">
      <Stack gap={2} flex="1 1 16rem" miw={0}>
        <Group gap="xs">
          <Text size="sm" fw={600} ff="monospace">
            {delivery.event}
          </Text>
          <StatusBadge status={delivery.status} />
        </Group>
        <Text size="sm" c="dimmed">
          {moment(delivery.created_at)} · {t.attempts}: {delivery.attempts}
          {delivery.next_attempt_at && ` · ${t.next} ${ago(delivery.next_attempt_at)}`}
        </Text>
        <Text size="xs" c="dimmed" truncate title={delivery.url}>
          {delivery.url}
        </Text>
      </Stack>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onOpen}>
          {t.details}
        </Button>
        <Resend delivery={delivery} />
      </Group>
    </Group>
  );
}

function Resend({ delivery }: { delivery: Delivery }) {
  const t = useTexts(texts);
  const resend = useMutation({
    mutationFn: () =>
      read(
        api.POST("/public/v1/webhook-deliveries/{delivery_id}/resend", {
          params: { path: { delivery_id: delivery.id } },
        }),
      ),
    onSuccess: () => sayDone(t.resent),
    onError: useSayFailure(),
  });
  if (!mayAct("owner") || delivery.status === "pending") return null;
  return (
    <Button
      size="xs"
      variant="light"
      leftSection={<IconSend size={15} />}
      loading={resend.isPending}
      onClick={() => resend.mutate()}
    >
      {t.resend}
    </Button>
  );
}

function Details({ delivery }: { delivery: Delivery }) {
  const t = useTexts(texts);
  const { moment, number } = useFormat();
  return (
    <Stack>
      <Group justify="space-between">
        <StatusBadge status={delivery.status} />
        <Resend delivery={delivery} />
      </Group>
      <Text size="sm">{delivery.url}</Text>
      <Text fw={600} size="sm">
        {t.attempts}
      </Text>
      {delivery.attempt_log.length === 0 && (
        <Text size="sm" c="dimmed">
          {t.noAttempts}
        </Text>
      )}
      {delivery.attempt_log.map((attempt) => (
        <Stack key={attempt.at} gap={4}>
          <Text size="sm">
            {moment(attempt.at)} · {attempt.status_code ? `HTTP ${attempt.status_code}` : t.noAnswer} ·{" "}
            {number(attempt.latency_ms)} {t.ms}
          </Text>
          {attempt.error && (
            <Text size="sm" c="red">
              {attempt.error}
            </Text>
          )}
          {attempt.answer_head && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
            <pre className={classes.pre} tabIndex={0}>
              {attempt.answer_head}
            </pre>
          )}
        </Stack>
      ))}
      <Text fw={600} size="sm">
        {t.body}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre className={classes.pre} tabIndex={0}>
        {JSON.stringify(delivery.body, null, 2)}
      </pre>
    </Stack>
  );
}
