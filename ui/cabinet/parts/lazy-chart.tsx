import { Skeleton } from "@mantine/core";
import { type ComponentProps, lazy, Suspense } from "react";
import type ChartType from "./chart";

const Loaded = lazy(() => import("./chart"));

/** A chart whose library is loaded when the first one is shown. Memoize `option`: a new one draws the chart anew. */
export function Chart(props: ComponentProps<typeof ChartType>) {
  return (
    <Suspense fallback={<Skeleton height={props.height ?? 240} />}>
      <Loaded {...props} />
    </Suspense>
  );
}
