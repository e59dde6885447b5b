import { Button, Group, List, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, read, setEnding } from "../../api/client";
import { useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { useSayFailure } from "../../parts/confirm";
import { Loaded } from "../../parts/states";
import { texts } from "./data-texts";

/** Deleting the account with everything, once its name is typed. */
export function Deletion() {
  const t = useTexts(texts);
  const query = useQuery({ queryKey: ["settings"], queryFn: () => read(api.GET("/public/v1/settings")) });
  return (
    <Card title={t.deletion}>
      <Stack align="flex-start">
        <Text maw="46rem">{t.deletionLead}</Text>
        <List size="sm" c="var(--soft)" spacing={4} maw="46rem">
          {t.deletionPoints.map((point) => (
            <List.Item key={point}>{point}</List.Item>
          ))}
        </List>
        <Text size="sm" c="var(--soft)" maw="46rem">
          {t.deletionFirst}
        </Text>
        <Loaded query={query}>{(found) => <Ask name={found.name} />}</Loaded>
      </Stack>
    </Card>
  );
}

function Ask({ name }: { name: string }) {
  const t = useTexts(texts);
  const sayFailure = useSayFailure();
  const [opened, setOpened] = useState(false);
  const [typed, setTyped] = useState("");
  const erase = useMutation({
    mutationFn: () => {
      setEnding(true);
      return read(api.DELETE("/public/v1/account", { body: { confirmation: typed } }));
    },
    onError: (error) => {
      setEnding(false);
      if (!(error instanceof ApiError && error.param === "confirmation")) sayFailure(error);
    },
  });
  const fits = typed.trim() === name.trim();
  const close = () => {
    setOpened(false);
    setTyped("");
    erase.reset();
  };
  return (
    <>
      <Button color="red" variant="light" onClick={() => setOpened(true)}>
        {t.open}
      </Button>
      <Modal
        opened={opened}
        onClose={erase.isSuccess ? () => undefined : close}
        withCloseButton={!erase.isSuccess}
        closeButtonProps={{ "aria-label": t.back }}
        title={erase.isSuccess ? t.deleted : t.deletion}
        centered
      >
        {erase.isSuccess ? (
          <Stack align="flex-start">
            <Text>{t.deletedLead}</Text>
            <Button component="a" href="/">
              {t.toSite}
            </Button>
          </Stack>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (fits) erase.mutate();
            }}
          >
            <Stack>
              <Text>{t.deletionLead}</Text>
              <TextInput
                label={t.typeName(name)}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                autoComplete="off"
                data-autofocus
                error={erase.error instanceof ApiError && erase.error.param === "confirmation" ? t.wrongName : null}
              />
              <Group justify="flex-end">
                <Button variant="default" onClick={close}>
                  {t.back}
                </Button>
                <Button type="submit" color="red" disabled={!fits} loading={erase.isPending}>
                  {t.deleteForGood}
                </Button>
              </Group>
            </Stack>
          </form>
        )}
      </Modal>
    </>
  );
}
