import type { ReactNode } from "react";
import { Link, useLocation } from "react-router";
import { type Texts, useTexts } from "../../i18n/language";
import { Page } from "../../parts/page";
import classes from "./settings.module.css";

type Part = "account" | "keys" | "webhooks" | "people" | "audit" | "data";

const texts: Texts<{ menu: string } & Record<Part, string>> = {
  en: {
    menu: "Settings",
    account: "Account",
    keys: "API keys",
    webhooks: "Webhooks",
    people: "People and roles",
    audit: "Audit",
    data: "Data",
  },
  ru: {
    menu: "Настройки",
    account: "Аккаунт",
    keys: "API-ключи",
    webhooks: "Вебхуки",
    people: "Сотрудники и роли",
    audit: "Журнал",
    data: "Данные",
  },
};

const PARTS: [Part, string][] = [
  ["account", "/settings"],
  ["keys", "/settings/keys"],
  ["webhooks", "/settings/webhooks"],
  ["people", "/settings/people"],
  ["audit", "/settings/audit"],
  ["data", "/settings/data"],
];

interface SettingsPageProps {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** One of the settings' pages: a list of them beside it, or above it on a phone. */
export function SettingsPage({ title, lead, actions, children }: SettingsPageProps) {
  const t = useTexts(texts);
  const { pathname } = useLocation();
  return (
    <div className={classes.frame}>
      <nav className={classes.menu} aria-label={t.menu}>
        {PARTS.map(([part, to]) => (
          <Link key={part} to={to} className={classes.way} aria-current={pathname === to ? "page" : undefined}>
            {t[part]}
          </Link>
        ))}
      </nav>
      <div className={classes.body}>
        <Page title={title} lead={lead} actions={actions}>
          {children}
        </Page>
      </div>
    </div>
  );
}
