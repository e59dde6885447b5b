import { AppShell, Burger, Button, Group, Loader, NavLink, ScrollArea, Stack, Text } from "@mantine/core";
import { useDisclosure, useMediaQuery } from "@mantine/hooks";
import { IconAlertTriangle } from "@tabler/icons-react";
import { lazy, Suspense, useEffect } from "react";
import { Link, Outlet, useLocation, useNavigation } from "react-router";
import { type Texts, useTexts } from "../i18n/language";
import { Brand } from "./brand";
import { names, type Place, places } from "./navigation";
import { PersonMenu } from "./person-menu";
import { hasFeature, mayAct, session } from "./session";
import classes from "./shell.module.css";

const WaitingBadge = lazy(() => import("./waiting-badge"));

const texts: Texts<{ skip: string; menu: string; places: string; paused: string; topUp: string }> = {
  en: {
    skip: "Skip to the page",
    menu: "Menu",
    places: "Places",
    paused: "This account is paused: you can read everything and top up.",
    topUp: "Top up",
  },
  ru: {
    skip: "К содержанию",
    menu: "Меню",
    places: "Разделы",
    paused: "Аккаунт на паузе: всё можно читать, баланс можно пополнить.",
    topUp: "Пополнить",
  },
};

/** The frame of every page: the menu beside it, or behind a button on a phone. */
export function Shell() {
  const t = useTexts(texts);
  const [opened, { toggle, close }] = useDisclosure();
  const isPhone = useMediaQuery("(max-width: 48em)") ?? false;
  const { pathname } = useLocation();
  const isLoading = useNavigation().state === "loading";
  useEffect(close, [pathname]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 236, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding={{ base: "md", md: "xl" }}
      classNames={{ header: classes.header ?? "", navbar: classes.navbar ?? "" }}
    >
      <a className="skip" href="#page">
        {t.skip}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" wrap="nowrap" justify="space-between">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t.menu}
              aria-expanded={opened}
            />
            <Brand />
            <Text c="dimmed" size="sm" visibleFrom="xs" truncate maw={360} title={session.tenant.name}>
              {session.tenant.name}
            </Text>
            {isLoading && <Loader size="xs" aria-hidden />}
          </Group>
          <PersonMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label={t.places} inert={isPhone && !opened}>
        <AppShell.Section grow component={ScrollArea} p="xs">
          <Stack gap="lg">
            {places.map((group) => (
              <Places key={group[0]?.name} group={group} />
            ))}
          </Stack>
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="page" tabIndex={-1} className={classes.main ?? ""}>
        {!session.tenant.is_active && (
          <Group className={classes.paused ?? ""} role="status" gap="sm">
            <IconAlertTriangle size={18} aria-hidden />
            <Text size="sm">{t.paused}</Text>
            <Button component={Link} to="/balance" size="compact-sm" variant="default">
              {t.topUp}
            </Button>
          </Group>
        )}
        <Suspense fallback={<Loader />}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
    </AppShell>
  );
}

function Places({ group }: { group: Place[] }) {
  const t = useTexts(names);
  const { pathname } = useLocation();
  const isHere = (place: Place) => (place.to === "/" ? pathname === "/" : pathname.startsWith(place.to));
  return (
    <div>
      {group
        .filter((place) => (!place.feature || hasFeature(place.feature)) && mayAct(place.role ?? "viewer"))
        .map((place) => (
          <NavLink
            key={place.name}
            component={Link}
            to={place.to}
            label={t[place.name]}
            leftSection={<place.icon size={19} stroke={1.7} />}
            rightSection={
              place.name === "conversations" && (
                <Suspense>
                  <WaitingBadge />
                </Suspense>
              )
            }
            active={isHere(place)}
            aria-current={isHere(place) ? "page" : undefined}
            className={classes.place ?? ""}
          />
        ))}
    </div>
  );
}
