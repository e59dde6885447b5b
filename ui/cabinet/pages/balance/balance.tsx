import { Alert, Badge, Grid, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { api, read } from "../../api/client";
import { mayAct, session } from "../../app/session";
import { useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Loaded } from "../../parts/states";
import { History } from "./history";
import { Payment } from "./payment";
import { Spending } from "./spending";
import { Tariff } from "./tariff";
import { texts } from "./texts";
import { TopUp } from "./top-up";

export default function BalancePage() {
  const t = useTexts(texts);
  const { money } = useFormat();
  const [search] = useSearchParams();
  const query = useQuery({ queryKey: ["balance"], queryFn: () => read(api.GET("/public/v1/balance")) });
  return (
    <Page title={t.title} lead={t.lead}>
      {search.has("payment") && <Payment />}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Card h="100%" title={t.now}>
            <Loaded query={query}>
              {({ balance_rub, held_rub, is_active, allow_credit }) => (
                <Stack gap="xs">
                  <Group gap="sm" align="baseline">
                    <Text fz="2rem" fw={650} lh={1.1} style={{ fontVariantNumeric: "tabular-nums" }}>
                      {money(balance_rub)}
                    </Text>
                    <Badge color={is_active ? "green" : "yellow"} variant="light" tt="none">
                      {is_active ? t.active : t.paused}
                    </Badge>
                  </Group>
                  {Number(held_rub) > 0 && (
                    <Text size="sm" c="dimmed">
                      {t.held(money(held_rub), money(Number(balance_rub) - Number(held_rub)))}
                    </Text>
                  )}
                  {allow_credit && (
                    <Text size="sm" c="dimmed">
                      {t.credit}
                    </Text>
                  )}
                  {!is_active && (
                    <Text size="sm" c="dimmed">
                      {t.pausedText}
                    </Text>
                  )}
                </Stack>
              )}
            </Loaded>
          </Card>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Card h="100%" title={t.topUp}>
            {session.can_top_up && mayAct("owner") ? (
              <TopUp />
            ) : (
              <Alert variant="light" color="gray">
                {session.can_top_up ? t.ownersOnly : t.noProvider}
              </Alert>
            )}
          </Card>
        </Grid.Col>
      </Grid>
      <Spending />
      <History />
      <Tariff />
    </Page>
  );
}
