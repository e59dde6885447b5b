import { Stack, Table, Text } from "@mantine/core";
import { IconShieldCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Pages } from "../../parts/pages";
import { Empty, Loaded } from "../../parts/states";
import type { Chat } from "./kinds";

const LIMIT = 25;

const texts: Texts<{
  lead: string;
  none: string;
  noneText: string;
  when: string;
  why: string;
  address: string;
  page: string;
  reasons: Record<"origin" | "rate" | "daily_limit" | "captcha", string>;
}> = {
  en: {
    lead: "Calls of the widget that were turned away. Each flood is noted once a minute.",
    none: "Nothing was refused",
    noneText: "Pages that are not allowed, floods and unsolved captchas would stand here.",
    when: "When",
    why: "Why",
    address: "Address",
    page: "Page",
    reasons: {
      origin: "The page may not use the chat",
      rate: "Too many calls",
      daily_limit: "The day's questions are used up",
      captcha: "Captcha not solved",
    },
  },
  ru: {
    lead: "Вызовы виджета, в которых отказано. Поток запросов отмечается раз в минуту.",
    none: "Отказов не было",
    noneText: "Здесь появятся чужие страницы, потоки запросов и нерешённые капчи.",
    when: "Когда",
    why: "Почему",
    address: "Адрес",
    page: "Страница",
    reasons: {
      origin: "Странице нельзя показывать этот чат",
      rate: "Слишком много запросов",
      daily_limit: "Дневной лимит вопросов исчерпан",
      captcha: "Капча не решена",
    },
  },
};

/** What the chat's widget refused. */
export function RefusedTab({ chat }: { chat: Chat }) {
  const t = useTexts(texts);
  const format = useFormat();
  const [offset, setOffset] = useState(0);
  const refused = useQuery({
    queryKey: ["refused", chat.id, offset],
    queryFn: () => {
      const params = { path: { chat_id: chat.id }, query: { limit: LIMIT, offset } };
      return read(api.GET("/public/v1/chats/{chat_id}/refused", { params }));
    },
  });
  return (
    <Stack>
      <Text c="var(--soft)">{t.lead}</Text>
      <Card>
        <Loaded query={refused}>
          {({ items, pagination }) =>
            items.length ? (
              <>
                <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
                  <Table>
                    <Table.Thead>
                      <Table.Tr>
                        {[t.when, t.why, t.address, t.page].map((name) => (
                          <Table.Th key={name}>{name}</Table.Th>
                        ))}
                      </Table.Tr>
                    </Table.Thead>
                    <Table.Tbody>
                      {items.map((item, index) => (
                        <Table.Tr key={`${item.at} ${index}`}>
                          <Table.Td>{format.moment(item.at)}</Table.Td>
                          <Table.Td>{t.reasons[item.reason]}</Table.Td>
                          <Table.Td>{item.address}</Table.Td>
                          <Table.Td>{item.origin ?? "—"}</Table.Td>
                        </Table.Tr>
                      ))}
                    </Table.Tbody>
                  </Table>
                </Table.ScrollContainer>
                <Pages limit={LIMIT} offset={offset} total={pagination.total} onOffset={setOffset} />
              </>
            ) : (
              <Empty icon={<IconShieldCheck size={36} stroke={1.4} aria-hidden />} title={t.none}>
                {t.noneText}
              </Empty>
            )
          }
        </Loaded>
      </Card>
    </Stack>
  );
}
