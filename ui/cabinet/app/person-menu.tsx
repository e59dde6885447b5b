import { ActionIcon, Menu, SegmentedControl, Stack, Text, useMantineColorScheme } from "@mantine/core";
import { IconBook2, IconLogout, IconUserCircle } from "@tabler/icons-react";
import { type Texts, useLanguage, useTexts } from "../i18n/language";
import { session } from "./session";

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
    <Menu position="bottom-end" width={264} closeOnItemClick={false} keepMounted>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.account}>
          <IconUserCircle size={24} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Stack gap={2} px="sm" py={6}>
          <Text size="sm" fw={600} truncate>
            {name ?? email ?? session.tenant.name}
          </Text>
          <Text size="xs" c="dimmed">
            {t.roles[role]}
          </Text>
        </Stack>
        <Menu.Divider />
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
        <Menu.Divider />
        {session.others.length > 0 && (
          <form method="post" action="/cabinet/switch">
            <Menu.Label>{t.others}</Menu.Label>
            {session.others.map((other) => (
              <Menu.Item key={other.id} component="button" type="submit" name="account" value={other.id}>
                {other.name}
              </Menu.Item>
            ))}
            <Menu.Divider />
          </form>
        )}
        <Menu.Item component="a" href="/docs" target="_blank" leftSection={<IconBook2 size={16} />}>
          {t.docs}
        </Menu.Item>
        <form method="post" action="/cabinet/logout">
          <Menu.Item component="button" type="submit" leftSection={<IconLogout size={16} />}>
            {t.leave}
          </Menu.Item>
        </form>
      </Menu.Dropdown>
    </Menu>
  );
}
