import { useQuery } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { hasFeature } from "../../app/session";
import type { Stream } from "../cameras/kinds";
import type { Period } from "./period";

export type Metrics = components["schemas"]["PeriodMetrics"];
export type Figures = components["schemas"]["Figures"];
type Group = components["schemas"]["GetPeriodMetrics"]["group_by"];

export function useMetrics(period: Period, group: Group = period.step, enabled = true) {
  const { from, to } = period;
  return useQuery({
    queryKey: ["metrics", from, to, group],
    queryFn: () => read(api.POST("/public/v1/tools/get_period_metrics", { body: { from, to, group_by: group } })),
    placeholderData: (old) => old,
    enabled,
  });
}

export function usePromises(state: "overdue" | "week", limit: number) {
  return useQuery({
    queryKey: ["commitments", state, limit],
    queryFn: () => read(api.GET("/public/v1/commitments", { params: { query: { state, limit } } })),
  });
}

export function useSignals(period: Period) {
  const { from, to } = period;
  return useQuery({
    queryKey: ["signals", from, to],
    queryFn: () =>
      read(api.POST("/public/v1/tools/rank_signals", { body: { from, to, limit: 5, group_by: "signal" } })),
    placeholderData: (old) => old,
  });
}

const STREAMS_A_PAGE = 100;

/** All cameras of the account: how many of them are online is told of all. */
export function useStreams() {
  return useQuery({
    queryKey: ["streams", "all"],
    queryFn: async () => {
      const items: Stream[] = [];
      for (;;) {
        const query = { limit: STREAMS_A_PAGE, offset: items.length };
        const page = await read(api.GET("/vision/v1/streams", { params: { query } }));
        items.push(...page.items);
        if (!page.items.length || items.length >= page.pagination.total) return { items };
      }
    },
    enabled: hasFeature("vision"),
  });
}

export function useBalance() {
  return useQuery({ queryKey: ["balance"], queryFn: () => read(api.GET("/public/v1/balance")) });
}

/** Whether there was ever a communication: what a new account sees depends on it. */
export function useHasAny(enabled: boolean) {
  return useQuery({
    queryKey: ["has-any"],
    queryFn: () => read(api.POST("/public/v1/tools/search_communications", { body: { limit: 1 } })),
    select: (page) => page.items.length > 0,
    enabled,
  });
}
