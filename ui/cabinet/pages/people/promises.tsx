import { Anchor } from "@mantine/core";
import { IconChecklist } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, read } from "../../api/client";
import { useTexts } from "../../i18n/language";
import { Empty, Loaded } from "../../parts/states";
import { PromiseRow } from "../promises/row";
import type { Person } from "./person";
import { texts } from "./texts";

const LIMIT = 50;

/** What this person promised, or was promised, that is open. */
export function PersonPromises({ person }: { person: Person }) {
  const t = useTexts(texts);
  const found = useQuery({
    queryKey: ["commitments", "of", person.id],
    queryFn: () =>
      read(
        api.GET("/public/v1/commitments", {
          params: { query: { state: "open", speaker_id: person.id, limit: LIMIT } },
        }),
      ),
  });
  // Those that were kept among them.
  const all = (
    <Anchor component={Link} to={`/promises?state=all&speaker=${person.id}`} size="sm">
      {t.allPromises}
    </Anchor>
  );
  return (
    <Loaded query={found}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon={<IconChecklist size={36} stroke={1.4} aria-hidden />} title={t.noPromises} action={all} />
        ) : (
          <>
            {items.map((item) => (
              <PromiseRow key={item.id} item={item} />
            ))}
            {all}
          </>
        )
      }
    </Loaded>
  );
}
