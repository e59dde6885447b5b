import { Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import { useFormat, useLanguage, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Loaded } from "../../parts/states";
import { productName, texts } from "./texts";

/** What a unit of each kind of work costs. */
export function Tariff() {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const { price } = useFormat();
  const query = useQuery({ queryKey: ["tariff"], queryFn: () => read(api.GET("/public/v1/tariff")) });
  // A second costs so little that people think in minutes.
  const perMinute = (unit: string) => unit === "second";
  return (
    <Card title={t.tariff}>
      <Loaded query={query}>
        {({ rates }) => (
          <Table verticalSpacing="xs">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.work}</Table.Th>
                <Table.Th ta="right">{t.price}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rates.map((rate) => (
                <Table.Tr key={`${rate.product} ${rate.llm_model}`}>
                  <Table.Td>
                    {productName(rate.product, language)}
                    {rate.llm_model && (
                      <Text size="xs" c="dimmed">
                        {rate.llm_model}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td ta="right">
                    {price(perMinute(rate.unit) ? rate.rate_rub * 60 : rate.rate_rub)}
                    <Text size="xs" c="dimmed">
                      {t.per[perMinute(rate.unit) ? "minute" : rate.unit] ?? rate.unit}
                    </Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Loaded>
    </Card>
  );
}
