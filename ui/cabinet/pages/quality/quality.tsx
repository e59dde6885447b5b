import { Button, Grid, Stack, Text } from "@mantine/core";
import { IconAdjustments, IconStars } from "@tabler/icons-react";
import { Link } from "react-router";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Empty, Loaded, Waiting } from "../../parts/states";
import { QualityCard } from "../overview/charts";
import { PeriodSwitch, usePeriod } from "../overview/period";
import { useMetrics } from "../overview/queries";
import { WeakestCriteria } from "./criteria";
import classes from "./quality.module.css";
import { Ranks } from "./ranks";
import { texts } from "./texts";

export default function QualityPage() {
  const t = useTexts(texts);
  const format = useFormat();
  const period = usePeriod();
  const metrics = useMetrics(period);
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <>
          <PeriodSwitch />
          <Button
            component={Link}
            to="/quality/scenarios"
            variant="default"
            leftSection={<IconAdjustments size={17} aria-hidden />}
          >
            {t.editor}
          </Button>
        </>
      }
    >
      <Loaded query={metrics} waiting={<Waiting lines={8} height={32} />}>
        {(data) =>
          data.total.qc_score_pct === null ? (
            <Card>
              <Empty icon={<IconStars size={40} stroke={1.4} aria-hidden />} title={t.empty}>
                {t.emptyText}
              </Empty>
            </Card>
          ) : (
            <Grid gap="md">
              <Grid.Col span={{ base: 12, lg: 8 }}>
                <Stack gap="md">
                  <QualityCard data={data} period={period} leads={false} />
                  <Ranks period={period} />
                </Stack>
              </Grid.Col>
              <Grid.Col span={{ base: 12, lg: 4 }}>
                <Stack gap="md">
                  <Card title={t.overall}>
                    <span className={classes.figure}>{format.percent(data.total.qc_score_pct, 1)}</span>
                    {data.before.qc_score_pct !== null && (
                      <Text size="sm" c="var(--soft)">
                        {t.was(format.percent(data.before.qc_score_pct, 1))}
                      </Text>
                    )}
                  </Card>
                  <WeakestCriteria period={period} />
                </Stack>
              </Grid.Col>
            </Grid>
          )
        }
      </Loaded>
    </Page>
  );
}
