import { useQuery } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import { useFormat, useTexts } from "../../i18n/language";
import { kindTexts, namesOf } from "../communications/kinds";
import { texts } from "./texts";
import type { Turn } from "./thread";

const MOST_SUMMARY = 700;

export interface About {
  id: string;
  name: string;
  /** What an agent is told ahead of the questions. The first turn is searched for as well, so it has names alone. */
  opening: Turn[];
}

/** The conversation that questions are about: `about` is undefined while it is on its way, and where it cannot be had
 * (`error`); null where the questions are about everything. */
export function useAbout(id: string | null): { about: About | null | undefined; error: unknown; again: () => void } {
  const t = useTexts(texts);
  const kinds = useTexts(kindTexts);
  const format = useFormat();
  const query = useQuery({
    queryKey: ["communication", id],
    enabled: id !== null,
    queryFn: () => read(api.GET("/public/v1/communications", { params: { query: { id: id ?? "" } } })),
  });
  const { data: found, error } = query;
  const again = () => void query.refetch();
  if (id === null) return { about: null, error: null, again };
  if (!found) return { about: undefined, error, again };
  const what = [kinds.kinds[found.kind], namesOf(found.speakers)].filter(Boolean).join(", ");
  const day = format.moment(found.occured_at);
  const opening: Turn[] = [
    { role: "user", content: t.opening(what) },
    { role: "assistant", content: t.openingReply(id, day, (found.summary_text ?? "").slice(0, MOST_SUMMARY)) },
  ];
  return { about: { id, name: `${what}, ${day}`, opening }, error: null, again };
}
