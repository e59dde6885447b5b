import { Badge } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api, read } from "../api/client";
import type { Forms } from "../i18n/format";
import { type Texts, useFormat, useTexts } from "../i18n/language";

const POLL_MS = 30_000;
const MOST_SHOWN = 99;

const texts: Texts<{ waiting: Forms }> = {
  en: { waiting: { one: "visitor waits for a person", other: "visitors wait for a person" } },
  ru: {
    waiting: {
      one: "посетитель ждёт человека",
      few: "посетителя ждут человека",
      many: "посетителей ждут человека",
      other: "посетителя ждут человека",
    },
  },
};

/** How many of the site's visitors wait for a person; nothing while nobody does. */
export default function WaitingBadge() {
  const t = useTexts(texts);
  const format = useFormat();
  const waiting = useQuery({
    queryKey: ["conversations", "waiting-count"],
    queryFn: () => read(api.GET("/public/v1/conversations", { params: { query: { state: "waiting", limit: 1 } } })),
    select: (page) => page.pagination.total,
    refetchInterval: POLL_MS,
    retry: false,
  });
  const count = waiting.data ?? 0;
  if (!count) return null;
  return (
    <Badge size="sm" color="red" variant="filled" circle={count < 10} title={format.count(count, t.waiting)}>
      <span aria-hidden>{count > MOST_SHOWN ? `${MOST_SHOWN}+` : count}</span>
      <span className="visually-hidden">{format.count(count, t.waiting)}</span>
    </Badge>
  );
}
