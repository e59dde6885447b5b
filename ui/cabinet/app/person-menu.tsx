import {
  ActionIcon,
  Divider,
  NavLink,
  Popover,
  SegmentedControl,
  Stack,
  Text,
  useMantineColorScheme,
} from "@mantine/core";
import { IconBook2, IconLogout, IconUserCircle } from "@tabler/icons-react";
import { type Texts, useLanguage, useTexts } from "../i18n/language";
import { session } from "./session";
import classes from "./shell.module.css";

const texts: Texts<{
  account: string;
  language: string;
  look: string;
  auto: string;
  light: string;
  dark: string;
  docs: string;
  others: string;
  leave: string;
  roles: Record<"owner" | "operator" | "viewer", string>;
}> = {
  en: {
    account: "You and how it looks",
    language: "Language",
    look: "Look",
    auto: "Auto",
    light: "Light",
    dark: "Dark",
    docs: "Documentation",
    others: "Other accounts",
    leave: "Log out",
    roles: { owner: "Owner", operator: "Operator", viewer: "Viewer" },
  },
  ru: {
    account: "Вы и оформление",
    language: "Язык",
    look: "Оформление",
    auto: "Авто",
    light: "Светлое",
    dark: "Тёмное",
    docs: "Документация",
    others: "Другие аккаунты",
    leave: "Выйти",
    roles: { owner: "Владелец", operator: "Оператор", viewer: "Наблюдатель" },
  },
};

/** Who is signed in, the language and the look, and the way out. */
export function PersonMenu() {
  const t = useTexts(texts);
  const { language, setLanguage } = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { name, email, role } = session.person;
  return (
    <Popover position="bottom-end" width={264} keepMounted trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.account}>
          <IconUserCircle size={24} stroke={1.6} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p={4}>
        <Stack gap={2} px="sm" py={6}>
          <Text size="sm" fw={600} truncate>
            {name ?? email ?? session.tenant.name}
          </Text>
          <Text size="xs" c="dimmed">
            {t.roles[role]}
          </Text>
        </Stack>
        <Divider my={4} />
        <Stack gap="xs" px="sm" py={6}>
          <SegmentedControl
            fullWidth
            size="xs"
            aria-label={t.language}
            value={language}
            onChange={(value) => setLanguage(value === "ru" ? "ru" : "en")}
            data={[
              { value: "ru", label: "Русский" },
              { value: "en", label: "English" },
            ]}
          />
          <SegmentedControl
            fullWidth
            size="xs"
            aria-label={t.look}
            value={colorScheme}
            onChange={(value) => setColorScheme(value as "auto" | "light" | "dark")}
            data={[
              { value: "auto", label: t.auto },
              { value: "light", label: t.light },
              { value: "dark", label: t.dark },
            ]}
          />
        </Stack>
        <Divider my={4} />
        {session.others.length > 0 && (
          <form method="post" action="/cabinet/switch">
            <Text size="xs" c="dimmed" px="sm" py={6}>
              {t.others}
            </Text>
            {session.others.map((other) => (
              <NavLink
                key={other.id}
                component="button"
                type="submit"
                name="account"
                value={other.id}
                label={other.name}
                className={classes.place ?? ""}
              />
            ))}
            <Divider my={4} />
          </form>
        )}
        <NavLink
          component="a"
          href="/docs"
          target="_blank"
          leftSection={<IconBook2 size={16} />}
          label={t.docs}
          className={classes.place ?? ""}
        />
        <form method="post" action="/cabinet/logout">
          <NavLink
            component="button"
            type="submit"
            leftSection={<IconLogout size={16} />}
            label={t.leave}
            className={classes.place ?? ""}
          />
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
