import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { hasFeature } from "../../app/session";
import { useTexts } from "../../i18n/language";
import { detailTexts } from "./audit-detail-texts";

/** What changed, field by field. */
export function AuditDetails({ entry }: { entry: components["schemas"]["AuditRecord"] }) {
  const { words, yes, no, none } = useTexts(detailTexts);
  const scenarios = useScenarioNames(entry.action === "qc_scenarios.changed");
  const fields = Object.entries(entry.details);
  if (fields.length === 0) return null;
  const inWords = (code: unknown) =>
    typeof code === "string" ? (scenarios[code] ?? words[code] ?? code) : shown(code);
  const shown = (value: unknown): string => {
    if (value === null || value === "") return none;
    if (typeof value === "boolean") return value ? yes : no;
    if (Array.isArray(value)) return value.length === 0 ? none : value.map(inWords).join(", ");
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  };
  return (
    <Text size="xs" c="dimmed" lineClamp={3}>
      {fields
        .map(([name, value]) => `${words[name] ?? name}: ${CODES.has(name) ? inWords(value) : shown(value)}`)
        .join(" · ")}
    </Text>
  );
}

/** Fields whose values are codes of ours: what people wrote is shown as they wrote it. */
const CODES = new Set(["reason", "issuer", "role"]);

function useScenarioNames(isWanted: boolean): Record<string, string> {
  const catalog = useQuery({
    queryKey: ["qc-scenarios"],
    enabled: isWanted && hasFeature("qc"),
    staleTime: 60_000,
    queryFn: () => read(api.GET("/public/v1/qc/scenarios")),
  });
  return Object.fromEntries((catalog.data?.items ?? []).map(({ code, name }) => [code, name]));
}
