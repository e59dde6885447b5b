import { Anchor, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconSearch, IconTargetArrow, IconZoomQuestion } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { api, read } from "../../api/client";
import type { components } from "../../api/schema/public";
import { mayAct } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import { Empty, Loaded } from "../../parts/states";
import { chunkPath, type Space } from "./kinds";
import classes from "./knowledge.module.css";

const LIMIT = 20;

const texts: Texts<{
  label: string;
  placeholder: string;
  go: string;
  begin: string;
  beginText: string;
  none: string;
  noneText: string;
  page: (page: number) => string;
  keep: string;
  kept: string;
}> = {
  en: {
    label: "What to look for",
    placeholder: "How long is the warranty?",
    go: "Search",
    begin: "Ask as a customer would",
    beginText: "You see the very passages that agents and chats get for their answers, in the same order.",
    none: "Nothing fits",
    noneText: "No answer could stand on this space here. Is a document missing?",
    page: (page) => `page ${page}`,
    keep: "Keep as a test: this one is right",
    kept: "Kept among the retrieval tests.",
  },
  ru: {
    label: "Что найти",
    placeholder: "Какая гарантия на кофемашину?",
    go: "Искать",
    begin: "Спросите так, как спросит клиент",
    beginText: "Вы увидите те самые отрывки, которые получают агенты и чаты для ответа, в том же порядке.",
    none: "Ничего не подходит",
    noneText: "Ответить из этого раздела было бы не из чего. Не хватает документа?",
    page: (page) => `стр. ${page}`,
    keep: "В проверки: это верный отрывок",
    kept: "Вопрос добавлен в проверки поиска.",
  },
};

/** Searches one space exactly as agents do. */
export function SearchTab({ space }: { space: Space }) {
  const t = useTexts(texts);
  const [search, setSearch] = useSearchParams();
  const asked = search.get("q") ?? "";
  const [words, setWords] = useState(asked);
  const found = useQuery({
    queryKey: ["search", space.id, asked],
    queryFn: () => {
      const body = { query: asked, kinds: ["document" as const], space_ids: [space.id], limit: LIMIT };
      return read(api.POST("/public/v1/search", { body }));
    },
    enabled: asked !== "",
  });
  return (
    <Stack gap="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setSearch({ tab: "search", q: words.trim() }, { replace: true });
        }}
      >
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            aria-label={t.label}
            placeholder={t.placeholder}
            leftSection={<IconSearch size={16} aria-hidden />}
            value={words}
            onChange={(event) => setWords(event.currentTarget.value)}
            required
            maxLength={1000}
            flex={1}
          />
          <Button type="submit">{t.go}</Button>
        </Group>
      </form>
      {asked ? (
        <Loaded query={found}>
          {({ items }) =>
            items.length ? (
              <Card>
                {items.map(
                  (hit, index) =>
                    hit.kind === "document" && (
                      <HitRow key={hit.chunk_id} hit={hit} number={index + 1} question={asked} />
                    ),
                )}
              </Card>
            ) : (
              <Empty icon={<IconZoomQuestion size={36} stroke={1.4} aria-hidden />} title={t.none}>
                {t.noneText}
              </Empty>
            )
          }
        </Loaded>
      ) : (
        <Empty icon={<IconZoomQuestion size={36} stroke={1.4} aria-hidden />} title={t.begin}>
          {t.beginText}
        </Empty>
      )}
    </Stack>
  );
}

type Hit = components["schemas"]["DocumentHit"];

function HitRow({ hit, number, question }: { hit: Hit; number: number; question: string }) {
  const t = useTexts(texts);
  const failed = useSayFailure();
  const keep = useMutation({
    mutationFn: () => {
      const body = { text: question, document_id: hit.document_id, chunk_id: hit.chunk_id };
      const params = { path: { space_id: hit.space_id } };
      return read(api.POST("/public/v1/kb/spaces/{space_id}/questions", { params, body }));
    },
    onSuccess: () => sayDone(t.kept),
    onError: failed,
  });
  return (
    <div className={classes.row}>
      <Text c="dimmed" w={24} className={classes.place ?? ""}>
        {number}
      </Text>
      <Stack gap={4} flex={1} miw={0} align="flex-start">
        <Anchor component={Link} to={chunkPath(hit.document_id, hit.chunk_id)} fw={500}>
          {hit.title}
          {hit.page !== null && `, ${t.page(hit.page)}`}
        </Anchor>
        <Text size="sm" lineClamp={6} className={classes.words ?? ""}>
          {hit.snippet}
        </Text>
        {mayAct("operator") && (
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            leftSection={<IconTargetArrow size={14} aria-hidden />}
            loading={keep.isPending}
            disabled={keep.isSuccess}
            onClick={() => keep.mutate()}
          >
            {keep.isSuccess ? t.kept : t.keep}
          </Button>
        )}
      </Stack>
    </div>
  );
}
