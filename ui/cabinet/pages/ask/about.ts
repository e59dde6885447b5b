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

/** The conversation that questions are about: undefined while it is on its way, null where there is none. */
export function useAbout(id: string | null): About | null | undefined {
  const t = useTexts(texts);
  const kinds = useTexts(kindTexts);
  const format = useFormat();
  const found = useQuery({
    queryKey: ["communication", id],
    enabled: id !== null,
    queryFn: () => read(api.GET("/public/v1/communications", { params: { query: { id: id ?? "" } } })),
  }).data;
  if (id === null) return null;
  if (!found) return undefined;
  const what = [kinds.kinds[found.kind], namesOf(found.speakers)].filter(Boolean).join(", ");
  const day = format.moment(found.occured_at);
  return {
    id,
    name: `${what}, ${day}`,
    opening: [
      { role: "user", content: t.opening(what) },
      { role: "assistant", content: t.openingReply(id, day, (found.summary_text ?? "").slice(0, MOST_SUMMARY)) },
    ],
  };
}
