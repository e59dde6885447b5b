import { Button, Grid, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconRestore } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { useTexts } from "../../i18n/language";
import { Back } from "../../parts/back";
import { Confirm, useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { Page } from "../../parts/page";
import { Loaded, Waiting } from "../../parts/states";
import { UnsavedGuard } from "../../parts/unsaved";
import { CompanyCard } from "./company";
import { bodyOf, catalogOf, isSame, moved, replaced, type Scenarios } from "./draft";
import { texts } from "./editor-texts";
import { Preview } from "./preview";
import classes from "./quality.module.css";
import { ScenarioCard } from "./scenario";

const KEY = ["qc-scenarios"];

export default function ScenariosPage() {
  const t = useTexts(texts);
  const stored = useQuery({
    queryKey: KEY,
    queryFn: () => read(api.GET("/public/v1/qc/scenarios")),
    // What somebody is editing must not change under their hands.
    refetchOnWindowFocus: false,
  });
  return (
    <Page title={t.title} lead={t.lead} above={<Back to="/quality">{t.back}</Back>}>
      <Loaded query={stored} waiting={<Waiting lines={8} height={44} />}>
        {(data) => <Editor stored={data} />}
      </Loaded>
    </Page>
  );
}

function Editor({ stored }: { stored: Scenarios }) {
  const t = useTexts(texts);
  const client = useQueryClient();
  const sayFailure = useSayFailure();
  const [draft, setDraft] = useState(stored);
  const [asksRestore, restore] = useDisclosure();
  const defaults = useQuery({
    queryKey: [...KEY, "defaults"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => read(api.GET("/public/v1/qc/scenarios", { params: { query: { defaults: true } } })),
  });
  const originals = defaults.data?.items ?? [];
  const isChanged = !isSame(draft, stored);
  const mayEdit = mayAct("operator");
  const save = useMutation({
    mutationFn: () => read(api.PUT("/public/v1/qc/scenarios", { body: bodyOf(draft) })),
    onSuccess: (answer) => {
      client.setQueryData(KEY, answer);
      setDraft(answer);
      sayDone(t.saved);
    },
    onError: sayFailure,
  });
  return (
    <>
      <UnsavedGuard isChanged={isChanged} />
      <Confirm
        opened={asksRestore}
        onClose={restore.close}
        title={t.sureRestore}
        action={t.restore}
        danger={false}
        onConfirm={() => {
          setDraft({ ...draft, items: originals });
          restore.close();
        }}
      >
        {t.restoreText}
      </Confirm>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack gap="md">
            {!mayEdit && (
              <Text size="sm" c="var(--soft)">
                {t.readOnly}
              </Text>
            )}
            <Stack gap="xs" component="ol" m={0} p={0} style={{ listStyle: "none" }}>
              {draft.items.map((scenario, at) => (
                <ScenarioCard
                  key={scenario.code}
                  scenario={scenario}
                  original={originals.find((each) => each.code === scenario.code) ?? null}
                  catalog={catalogOf([...originals, ...draft.items])}
                  isFirst={at === 0}
                  isLast={at === draft.items.length - 1}
                  mayEdit={mayEdit}
                  onMove={(by) => setDraft({ ...draft, items: moved(draft.items, at, by) })}
                  onChange={(next) => setDraft({ ...draft, items: replaced(draft.items, at, next) })}
                />
              ))}
            </Stack>
            <fieldset disabled={!mayEdit} className={classes.bare}>
              {defaults.data && !isSame(draft.items, originals) && (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  mt="xs"
                  leftSection={<IconRestore size={16} aria-hidden />}
                  onClick={restore.open}
                >
                  {t.restoreAll}
                </Button>
              )}
              <CompanyCard company={draft.company} onChange={(company) => setDraft({ ...draft, company })} />
            </fieldset>
            {isChanged && (
              <Group className={classes.unsaved ?? ""} justify="space-between" gap="sm" role="status">
                <Text size="sm">{t.unsaved}</Text>
                <Group gap="xs">
                  <Button variant="default" onClick={() => setDraft(stored)}>
                    {t.discard}
                  </Button>
                  <Button loading={save.isPending} onClick={() => save.mutate()}>
                    {t.save}
                  </Button>
                </Group>
              </Group>
            )}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Preview draft={draft} />
        </Grid.Col>
      </Grid>
    </>
  );
}
