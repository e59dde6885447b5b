import { Skeleton, Stack } from "@mantine/core";
import { lazy, Suspense } from "react";
import { useTexts } from "../../i18n/language";
import { Page } from "../../parts/page";
import { Loaded } from "../../parts/states";
import { PeriodSwitch, usePeriod } from "./period";
import { useHasAny, useMetrics } from "./queries";
import { texts } from "./texts";

// On their way while the figures are: the first page stays small.
const Dashboard = lazy(() => import("./dashboard"));
const Welcome = lazy(() => import("./welcome"));

export default function OverviewPage() {
  const t = useTexts(texts);
  const period = usePeriod();
  const metrics = useMetrics(period);
  const isEmpty = metrics.data?.total.count === 0 && metrics.data.before.count === 0;
  const hasAny = useHasAny(isEmpty);
  const isNew = isEmpty && hasAny.data === false;
  return (
    <Page title={t.title} actions={isNew ? undefined : <PeriodSwitch />}>
      <Loaded query={metrics} waiting={<Outline />}>
        {(data) => (
          <Suspense fallback={<Outline />}>{isNew ? <Welcome /> : <Dashboard data={data} period={period} />}</Suspense>
        )}
      </Loaded>
    </Page>
  );
}

function Outline() {
  return (
    <Stack gap="md" aria-hidden>
      <Skeleton height={112} radius={14} />
      <Skeleton height={330} radius={14} />
    </Stack>
  );
}
