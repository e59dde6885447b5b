import { Grid, SimpleGrid, Stack } from "@mantine/core";
import { hasFeature, mayAct } from "../../app/session";
import { AskField } from "./ask-field";
import { BalanceCard, CamerasCard, CategoriesCard, PromisesCard, SHOWN_PROMISES, SignalsCard } from "./cards";
import { AnsweringCard, QualityCard, ReplyCard, VolumeCard } from "./charts";
import { before, type Period } from "./period";
import { type Metrics, useMetrics, usePromises } from "./queries";
import { Tiles } from "./tiles";
import { ToneCard } from "./tone";

/** The figures of a period, each leading to what is behind it. */
export default function Dashboard({ data, period }: { data: Metrics; period: Period }) {
  const earlier = useMetrics(before(period), period.step);
  const overdue = usePromises("overdue", SHOWN_PROMISES);
  return (
    <Stack gap="md">
      {hasFeature("chat") && mayAct("operator") && <AskField />}
      <Tiles data={data} period={period} overdue={overdue.data?.counts.overdue ?? null} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack gap="md">
            <VolumeCard data={data} earlier={earlier.data} period={period} />
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
              <AnsweringCard data={data} period={period} />
              <ReplyCard data={data} period={period} />
            </SimpleGrid>
            {hasFeature("qc") && (
              <>
                <QualityCard data={data} period={period} />
                <ToneCard period={period} />
              </>
            )}
            <SignalsCard period={period} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack gap="md">
            <PromisesCard />
            <CategoriesCard data={data} period={period} />
            {hasFeature("vision") && <CamerasCard />}
            <BalanceCard />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}
