import { Anchor, Badge, Group, Text } from "@mantine/core";
import { IconBulb } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { useFormat, useTexts } from "../../i18n/language";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import classes from "./people.module.css";
import type { Person } from "./person";
import { texts, topics } from "./texts";

const LIMIT = 30;

/** What is remembered of a person, each fact with the words that it comes from. */
export function Memory({ person }: { person: Person }) {
  const t = useTexts(texts);
  const format = useFormat();
  const topicNames = useTexts(topics);
  const [offset, setOffset] = useState(0);
  const facts = useQuery({
    queryKey: ["person-memory", person.id, offset],
    queryFn: () =>
      read(
        api.GET("/public/v1/speakers/{speaker_id}/memory", {
          params: { path: { speaker_id: person.id }, query: { limit: LIMIT, offset } },
        }),
      ),
    placeholderData: (old) => old,
  });
  return (
    <Loaded query={facts}>
      {({ items, pagination }) =>
        items.length === 0 ? (
          <Empty icon={<IconBulb size={36} stroke={1.4} aria-hidden />} title={t.noFacts}>
            {t.noFactsText}
          </Empty>
        ) : (
          <>
            {items.map((fact) => (
              <div key={fact.id} className={classes.fact}>
                <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
                  <Text fw={600} size="sm">
                    {fact.content}
                  </Text>
                  {topicNames[fact.key?.split(":")[0] ?? ""] && (
                    <Badge variant="default" size="sm" tt="none" style={{ flexShrink: 0 }} maw="40%">
                      {topicNames[fact.key?.split(":")[0] ?? ""]}
                    </Badge>
                  )}
                </Group>
                {fact.quote && <blockquote className={classes.quote}>«{fact.quote}»</blockquote>}
                <Group gap="xs" mt={4}>
                  {fact.said_at && (
                    <Text size="xs" c="var(--soft)">
                      {t.fact.said(format.day(fact.said_at))}
                    </Text>
                  )}
                  {fact.communication_id && (
                    <Anchor
                      component={Link}
                      size="xs"
                      to={`/communications/${fact.communication_id}${fact.idx === null ? "" : `?item=${fact.idx}`}`}
                    >
                      {fact.communication_title}
                    </Anchor>
                  )}
                </Group>
                {fact.earlier.length > 0 && (
                  <Text size="xs" c="var(--soft)" mt={4}>
                    {t.fact.earlier}: {fact.earlier.join(" ← ")}
                  </Text>
                )}
              </div>
            ))}
            <Pages limit={LIMIT} offset={offset} total={pagination.total} onOffset={setOffset} />
          </>
        )
      }
    </Loaded>
  );
}
