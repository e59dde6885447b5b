import { Anchor, Group, Text } from "@mantine/core";
import { IconHeadset } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Empty, Loaded } from "../../parts/states";
import classes from "./people.module.css";
import type { Person } from "./person";
import { texts } from "./texts";

const kinds: Texts<Record<string, string>> = {
  en: { call: "Call", chat: "Chat", email: "Mail" },
  ru: { call: "Звонок", chat: "Чат", email: "Письмо" },
};
const LIMIT = 20;

/** The newest communications of a person. */
export function Communications({ person }: { person: Person }) {
  const t = useTexts(texts);
  const kindNames = useTexts(kinds);
  const format = useFormat();
  const found = useQuery({
    queryKey: ["person-communications", person.id],
    queryFn: () =>
      read(api.POST("/public/v1/tools/search_communications", { body: { participants: [person.id], limit: LIMIT } })),
  });
  return (
    <Loaded query={found}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon={<IconHeadset size={36} stroke={1.4} aria-hidden />} title={t.noCommunications} />
        ) : (
          <>
            {items.map((item) => (
              <div key={item.id} className={classes.fact}>
                <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
                  <Anchor component={Link} to={`/communications/${item.id}`} fw={600} size="sm" lineClamp={2}>
                    {item.title || kindNames[item.kind]}
                  </Anchor>
                  <Text size="xs" c="var(--soft)" style={{ whiteSpace: "nowrap" }}>
                    {kindNames[item.kind] ?? item.kind} · {format.day(item.occured_at)}
                  </Text>
                </Group>
                {item.snippet && (
                  <Text size="sm" c="var(--soft)" lineClamp={2}>
                    {item.snippet}
                  </Text>
                )}
              </div>
            ))}
            <Anchor component={Link} to={`/communications?participant=${person.id}`} size="sm" mt="sm">
              {t.allCommunications}
            </Anchor>
          </>
        )
      }
    </Loaded>
  );
}
