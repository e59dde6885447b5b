import { Group, Pagination, Text } from "@mantine/core";
import { type Texts, useFormat, useTexts } from "../i18n/language";

const texts: Texts<{
  of: (from: string, to: string, total: string) => string;
  page: string;
  next: string;
  back: string;
}> = {
  en: { of: (from, to, total) => `${from}–${to} of ${total}`, page: "Page", next: "Next page", back: "Previous page" },
  ru: {
    of: (from, to, total) => `${from}–${to} из ${total}`,
    page: "Страница",
    next: "Следующая страница",
    back: "Предыдущая страница",
  },
};

interface PagesProps {
  total: number;
  limit: number;
  offset: number;
  onOffset: (offset: number) => void;
}

/** The pages of a list that is asked for by limit and offset; nothing where one holds it all. */
export function Pages({ total, limit, offset, onOffset }: PagesProps) {
  const t = useTexts(texts);
  const { number } = useFormat();
  if (total <= limit && offset === 0) return null;
  const last = Math.min(offset + limit, total);
  return (
    <Group justify="space-between" gap="sm" mt="md">
      <Text size="sm" c="dimmed">
        {t.of(number(Math.min(offset + 1, total)), number(last), number(total))}
      </Text>
      <Pagination
        size="sm"
        total={Math.max(1, Math.ceil(total / limit))}
        value={Math.floor(offset / limit) + 1}
        onChange={(page) => onOffset((page - 1) * limit)}
        getItemProps={(page) => ({ "aria-label": `${t.page} ${page}` })}
        getControlProps={(control) => ({ "aria-label": control === "next" ? t.next : t.back })}
      />
    </Group>
  );
}
