import { Badge, Button, Group, Progress, Stack, Text } from "@mantine/core";
import { IconArchive, IconDownload, IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { Loaded } from "../../parts/states";
import { texts } from "./data-texts";

type Export = components["schemas"]["ExportRecord"];

const LOOK_MS = 1500;
const KEY = ["account-exports"];
const isInWork = (each: Export) => each.status === "pending" || each.status === "processing";

/** The archive of everything: ordered, watched while it is made, fetched, deleted. */
export function Exports() {
  const t = useTexts(texts);
  const sayFailure = useSayFailure();
  const client = useQueryClient();
  const query = useQuery({
    queryKey: KEY,
    queryFn: () => read(api.GET("/public/v1/account/exports")),
    refetchInterval: ({ state }) => (state.data?.items.some(isInWork) ? LOOK_MS : false),
  });
  const order = useMutation({
    mutationFn: () => read(api.POST("/public/v1/account/exports")),
    onSuccess: () => sayDone(t.ordered),
    onError: sayFailure,
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
  const busy = query.data?.items.some(isInWork) ?? false;
  return (
    <Card title={t.export}>
      <Text c="var(--soft)" maw="46rem" mb="md">
        {t.exportLead}
      </Text>
      <Stack>
        <Loaded query={query}>{(found) => found.items.map((each) => <Line key={each.id} found={each} />)}</Loaded>
        <Group>
          <Button
            leftSection={<IconArchive size={18} />}
            variant="default"
            disabled={busy}
            loading={order.isPending}
            onClick={() => order.mutate()}
          >
            {t.order}
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

function Line({ found }: { found: Export }) {
  const t = useTexts(texts);
  const format = useFormat();
  const sayFailure = useSayFailure();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      read(api.DELETE("/public/v1/account/exports/{export_id}", { params: { path: { export_id: found.id } } })),
    onError: sayFailure,
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
  const state = found.status === "pending" ? t.waits : t.making(format.percent(found.progress * 100));
  return (
    <Stack gap={6} data-export={found.status}>
      <Group justify="space-between" gap="sm">
        <Stack gap={0}>
          <Group gap="xs">
            <Text fw={600}>{format.moment(found.created_at)}</Text>
            {found.status === "success" && (
              <Badge color="green" variant="light">
                {t.ready}
              </Badge>
            )}
            {found.status === "error" && (
              <Badge color="red" variant="light">
                {t.failed}
              </Badge>
            )}
          </Group>
          <Text size="sm" c="var(--soft)">
            {found.status === "success"
              ? [
                  found.size_bytes === null ? null : format.bytes(found.size_bytes),
                  found.expires_at && t.until(format.moment(found.expires_at)),
                ]
                  .filter(Boolean)
                  .join(" · ")
              : t.by(found.ordered_by)}
          </Text>
        </Stack>
        <Group gap="xs">
          {found.status === "success" && (
            <Button
              component="a"
              href={`/public/v1/account/exports/${found.id}/file`}
              leftSection={<IconDownload size={18} />}
            >
              {t.download}
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<IconTrash size={18} />}
            loading={remove.isPending}
            onClick={() => remove.mutate()}
          >
            {isInWork(found) ? t.cancel : t.remove}
          </Button>
        </Group>
      </Group>
      {isInWork(found) && (
        <>
          <Progress value={Math.max(2, found.progress * 100)} animated aria-label={state} />
          <Text size="sm" c="var(--soft)" role="status">
            {state}
          </Text>
        </>
      )}
    </Stack>
  );
}
