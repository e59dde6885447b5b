import { ActionIcon, Avatar, Badge, Button, Group, Menu, SimpleGrid, Stack, Tabs, Text } from "@mantine/core";
import { IconArrowMerge, IconDots, IconPencil, IconUserOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { hasFeature, mayAct } from "../../app/session";
import { useFormat, useTexts } from "../../i18n/language";
import { Back } from "../../parts/back";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Loaded, Waiting } from "../../parts/states";
import { EditPerson, ForgetPerson } from "./change";
import { Communications } from "./communications";
import { Memory } from "./memory";
import { MergePerson } from "./merge";
import classes from "./people.module.css";
import { PersonPromises } from "./promises";
import { AVATAR_COLOURS, ROLE_COLOURS, roles, texts } from "./texts";
import { Voice } from "./voice";

export type Person = components["schemas"]["Person"];

export default function PersonPage() {
  const t = useTexts(texts);
  const { id = "" } = useParams();
  const navigate = useNavigate();
  const person = useQuery({
    queryKey: ["person", id],
    queryFn: () => read(api.GET("/public/v1/speakers/{speaker_id}", { params: { path: { speaker_id: id } } })),
  });
  // The id of a profile that was merged gives the one that it went into.
  const kept = person.data?.id;
  useEffect(() => {
    if (kept && kept !== id) void navigate(`/people/${kept}`, { replace: true });
  }, [kept, id, navigate]);
  const back = <Back to="/people">{t.back}</Back>;
  return (
    <Loaded
      query={person}
      waiting={
        <Page title={t.back} above={back}>
          <Waiting lines={6} />
        </Page>
      }
    >
      {(data) => (
        <Page title={data.name || data.external_id || t.noName} above={back} actions={<Actions person={data} />}>
          <Profile person={data} />
          <Rest person={data} />
        </Page>
      )}
    </Loaded>
  );
}

type Opened = "edit" | "merge" | "forget" | null;

function Actions({ person }: { person: Person }) {
  const t = useTexts(texts);
  const [opened, setOpened] = useState<Opened>(null);
  const close = () => setOpened(null);
  if (!mayAct("operator")) return null;
  return (
    <>
      <Button variant="default" leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setOpened("edit")}>
        {t.edit}
      </Button>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t.more}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconArrowMerge size={16} aria-hidden />} onClick={() => setOpened("merge")}>
            {t.merge}
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<IconUserOff size={16} aria-hidden />}
            onClick={() => setOpened("forget")}
          >
            {t.forget}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {opened === "edit" && <EditPerson person={person} onClose={close} />}
      {opened === "merge" && <MergePerson person={person} onClose={close} />}
      {opened === "forget" && <ForgetPerson person={person} onClose={close} />}
    </>
  );
}

function Profile({ person }: { person: Person }) {
  const t = useTexts(texts);
  const roleNames = useTexts(roles);
  const format = useFormat();
  const attributes: [string, string][] = [
    [t.department, person.department ?? ""],
    [t.externalId, person.external_id ?? ""],
    [t.firstContact, person.first_contact_at ? format.day(person.first_contact_at) : ""],
    [t.lastContact, person.last_contact_at ? format.ago(person.last_contact_at) : ""],
    [t.aliases, person.aliases.map((alias) => alias.name || alias.external_id || t.noName).join(", ")],
  ];
  const figures: [string, number, boolean][] = [
    [t.figures.communications, person.communications, false],
    ...(hasFeature("memory") ? [[t.figures.facts, person.facts, false] as [string, number, boolean]] : []),
    [t.figures.open, person.open_promises, false],
    [t.figures.overdue, person.overdue_promises, person.overdue_promises > 0],
  ];
  return (
    <Card>
      <Group align="flex-start" gap="lg" wrap="wrap">
        <Avatar
          name={person.name ?? ""}
          color="initials"
          allowedInitialsColors={AVATAR_COLOURS}
          size={72}
          aria-hidden
        />
        <Stack gap="md" style={{ flex: "1 1 18rem", minInlineSize: 0 }}>
          <Badge variant="light" size="lg" tt="none" color={ROLE_COLOURS[person.role] ?? "gray"}>
            {roleNames[person.role] ?? person.role}
          </Badge>
          <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md" component="dl" m={0}>
            {figures.map(([name, value, isLate]) => (
              <div key={name}>
                <Text component="dt" size="xs" c="var(--soft)">
                  {name}
                </Text>
                <dd className={isLate ? `${classes.figure} ${classes.late}` : classes.figure} style={{ margin: 0 }}>
                  {format.number(value)}
                </dd>
              </div>
            ))}
          </SimpleGrid>
          <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm" component="dl" m={0} style={{ overflowWrap: "anywhere" }}>
            {attributes
              .filter(([, value]) => value)
              .map(([name, value]) => (
                <div key={name}>
                  <Text component="dt" size="xs" c="var(--soft)">
                    {name}
                  </Text>
                  <Text component="dd" size="sm" m={0}>
                    {value}
                  </Text>
                </div>
              ))}
          </SimpleGrid>
        </Stack>
      </Group>
    </Card>
  );
}

function Rest({ person }: { person: Person }) {
  const t = useTexts(texts);
  const tabs = [
    ...(hasFeature("memory") ? [{ name: "memory", label: t.tabs.memory, of: <Memory person={person} /> }] : []),
    { name: "communications", label: t.tabs.communications, of: <Communications person={person} /> },
    { name: "promises", label: t.tabs.promises, of: <PersonPromises person={person} /> },
    { name: "voice", label: t.tabs.voice, of: <Voice person={person} /> },
  ];
  const first = person.facts > 0 || !hasFeature("memory") ? tabs[0] : tabs[1];
  return (
    <Card>
      <Tabs key={person.id} defaultValue={first?.name ?? "communications"} keepMounted={false}>
        <Tabs.List mb="md">
          {tabs.map((tab) => (
            <Tabs.Tab key={tab.name} value={tab.name}>
              {tab.label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((tab) => (
          <Tabs.Panel key={tab.name} value={tab.name}>
            {tab.of}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Card>
  );
}
