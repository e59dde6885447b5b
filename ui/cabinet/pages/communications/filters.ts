import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";

/** The filters of the list as the address and saved views have them. */
export const FILTER_NAMES = [
  "query",
  "kind",
  "channel_type",
  "direction",
  "category",
  "participant",
  "scenario",
  "score_from",
  "score_to",
  "tone",
  "answered",
  "replied",
  "signal",
  "from",
  "to",
] as const;

export type FilterName = (typeof FILTER_NAMES)[number];
export type Filters = Partial<Record<FilterName, string>>;

export interface FiltersInUse {
  filters: Filters;
  /** Changes what is named; an empty text takes the filter away. */
  change: (values: Filters) => void;
  /** Puts these in the place of all. */
  replace: (values: Filters) => void;
}

/** Filters live in the address: a list can be linked to, and the way back leads to it. */
export function useFilters(): FiltersInUse {
  const [params, setParams] = useSearchParams();
  const filters = useMemo(() => {
    const found: Filters = {};
    for (const name of FILTER_NAMES) {
      const value = params.get(name);
      if (value) found[name] = value;
    }
    return found;
  }, [params]);
  const replace = useCallback(
    (values: Filters) => {
      const next = new URLSearchParams();
      for (const name of FILTER_NAMES) if (values[name]) next.set(name, values[name]);
      setParams(next, { replace: true });
    },
    [setParams],
  );
  const change = useCallback((values: Filters) => replace({ ...filters, ...values }), [filters, replace]);
  return { filters, change, replace };
}

/** The same filters in any order make one text. */
export const keyOf = (filters: Record<string, string>) =>
  Object.entries(filters)
    .filter(([, value]) => value)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
