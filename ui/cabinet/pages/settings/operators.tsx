import { Badge, Button, Group, Menu, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconDots, IconMailForward, IconUserMinus, IconUserPlus } from "@tabler/icons-react";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { mayAct, type Role, session } from "../../app/session";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Confirm, useSayFailure } from "../../parts/confirm";
import { sayDone, sayFailed } from "../../parts/notify";
import { Pages } from "../../parts/pages";
import { Loaded, useFailureText } from "../../parts/states";
import { SettingsPage } from "./frame";
import { texts } from "./operators-texts";
import classes from "./settings.module.css";

type Operator = components["schemas"]["OperatorRecord"];

const LIMIT = 50;
const ROLES: Role[] = ["owner", "operator", "viewer"];

export default function SettingsPeople() {
  const t = useTexts(texts);
  const [offset, setOffset] = useState(0);
  const [inviting, setInviting] = useState(false);
  const query = useQuery({
    queryKey: ["operators", offset],
    queryFn: () => read(api.GET("/public/v1/operators", { params: { query: { limit: LIMIT, offset } } })),
    placeholderData: keepPreviousData,
  });
  return (
    <SettingsPage
      title={t.title}
      lead={t.lead}
      actions={
        mayAct("owner") && (
          <Button leftSection={<IconUserPlus size={18} />} onClick={() => setInviting(true)}>
            {t.invite}
          </Button>
        )
      }
    >
      <Invite opened={inviting} onClose={() => setInviting(false)} />
      <Card>
        <Loaded query={query}>
          {({ items, pagination }) => (
            <>
              {items.length === 0 && <Text c="dimmed">{t.nobody}</Text>}
              {items.map((person) => (
                <PersonLine key={person.id} person={person} />
              ))}
              <Pages {...pagination} onOffset={setOffset} />
            </>
          )}
        </Loaded>
      </Card>
      <Card title={t.rolesTitle}>
        <Stack gap="xs" component="dl" m={0}>
          {ROLES.map((role) => (
            <div key={role}>
              <Text component="dt" fw={600} size="sm">
                {t.roles[role]}
              </Text>
              <Text component="dd" m={0} size="sm" c="dimmed">
                {t.may[role]}
              </Text>
            </div>
          ))}
        </Stack>
      </Card>
    </SettingsPage>
  );
}

function PersonLine({ person }: { person: Operator }) {
  const t = useTexts(texts);
  const { ago } = useFormat();
  const sayFailure = useSayFailure();
  const [asking, setAsking] = useState(false);
  const path = { operator_id: person.id };
  const onError = (error: unknown) =>
    error instanceof ApiError && error.code === "last_owner" ? sayFailed(t.lastOwner) : sayFailure(error);
  const change = useMutation({
    mutationFn: (role: Role) =>
      read(api.PATCH("/public/v1/operators/{operator_id}", { params: { path }, body: { role } })),
    onSuccess: () => sayDone(t.changed),
    onError,
  });
  const again = useMutation({
    mutationFn: () => read(api.POST("/public/v1/operators/{operator_id}/invitation", { params: { path } })),
    onSuccess: () => sayDone(session.can_mail ? t.sentAgain : t.logged),
    onError,
  });
  const remove = useMutation({
    mutationFn: () => read(api.DELETE("/public/v1/operators/{operator_id}", { params: { path } })),
    onSuccess: () => sayDone(t.removed),
    onError,
    onSettled: () => setAsking(false),
  });
  const isOwner = mayAct("owner");
  const isYou = person.email === session.person.email;
  const called = person.name ?? person.email;
  return (
    <Group className={classes.line ?? ""} justify="space-between" gap="sm">
      <Stack gap={2} flex="1 1 14rem" miw={0}>
        <Group gap="xs">
          <Text fw={600} size="sm">
            {called}
          </Text>
          {isYou && (
            <Badge variant="light" tt="none">
              {t.you}
            </Badge>
          )}
          {!person.seen_at && !isYou && (
            <Badge variant="light" color="gray" tt="none">
              {t.invited}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed">
          {person.name && `${person.email} · `}
          {/* A link that the server printed or your system asked for lets in without a mail, and counts as no sign-in. */}
          {isYou ? t.here : person.seen_at ? `${t.seen} ${ago(person.seen_at)}` : t.notYet}
        </Text>
      </Stack>
      <Group gap="xs" wrap="nowrap">
        <Select
          size="sm"
          w={150}
          aria-label={`${t.role}: ${called}`}
          data={ROLES.map((role) => ({ value: role, label: t.roles[role] }))}
          value={change.isPending ? change.variables : person.role}
          allowDeselect={false}
          disabled={!isOwner || change.isPending}
          onChange={(role) => role && role !== person.role && change.mutate(role as Role)}
        />
        {isOwner && (
          <Menu position="bottom-end" withinPortal>
            <Menu.Target>
              <Button variant="default" size="sm" px={8} aria-label={`${t.more}: ${called}`} loading={again.isPending}>
                <IconDots size={18} />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconMailForward size={16} />} onClick={() => again.mutate()}>
                {t.inviteAgain}
              </Menu.Item>
              <Menu.Item color="red" leftSection={<IconUserMinus size={16} />} onClick={() => setAsking(true)}>
                {t.remove}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </Group>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={t.removeTitle}
        action={t.remove}
        pending={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        {t.removeText(called)}
      </Confirm>
    </Group>
  );
}

function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts(texts);
  const said = useFailureText();
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("operator");
  const close = () => {
    onClose();
    setEmail("");
    setName("");
    setRole("operator");
    invite.reset();
  };
  const invite = useMutation({
    mutationFn: () =>
      read(api.POST("/public/v1/operators", { body: { email: email.trim(), name: name.trim() || null, role } })),
    onSuccess: () => {
      sayDone(session.can_mail ? t.sent : t.logged);
      close();
    },
  });
  const failure = invite.error;
  const code = failure instanceof ApiError ? failure.code : null;
  const wrong = failure instanceof ApiError && failure.param === "email";
  const problem = () => {
    if (code === "operator_exists") return t.exists;
    if (code === "mail_failed") return t.mailFailed;
    return wrong ? t.noEmail : said(failure);
  };
  return (
    <Modal opened={opened} onClose={close} title={t.invite} centered closeButtonProps={{ "aria-label": t.cancel }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate();
        }}
      >
        <Stack>
          <TextInput
            label={t.email}
            type="email"
            value={email}
            required
            maxLength={320}
            data-autofocus
            error={wrong && problem()}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <TextInput
            label={t.name}
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Select
            label={t.role}
            description={t.may[role]}
            data={ROLES.map((each) => ({ value: each, label: t.roles[each] }))}
            value={role}
            allowDeselect={false}
            onChange={(value) => value && setRole(value as Role)}
          />
          {!session.can_mail && (
            <Text size="sm" c="dimmed">
              {t.noMail}
            </Text>
          )}
          {invite.isError && !wrong && (
            <Text c="red" size="sm" role="alert">
              {problem()}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t.cancel}
            </Button>
            <Button type="submit" disabled={!email.trim()} loading={invite.isPending}>
              {t.send}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
