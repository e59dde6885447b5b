import { Button } from "@mantine/core";
import { IconCompassOff } from "@tabler/icons-react";
import { Link } from "react-router";
import { type Texts, useTexts } from "../i18n/language";
import { Page } from "./page";
import { Empty } from "./states";

const texts: Texts<{ title: string; text: string; back: string }> = {
  en: {
    title: "There is no such page",
    text: "Its address may have changed, or it was deleted.",
    back: "To the overview",
  },
  ru: { title: "Такой страницы нет", text: "Адрес мог измениться, или страницу удалили.", back: "К обзору" },
};

export function NotFoundPage() {
  const t = useTexts(texts);
  return (
    <Page title={t.title}>
      <Empty
        icon={<IconCompassOff size={40} stroke={1.4} aria-hidden />}
        title={t.text}
        action={
          <Button component={Link} to="/" variant="light">
            {t.back}
          </Button>
        }
      />
    </Page>
  );
}
