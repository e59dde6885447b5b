import { Badge, Group, Tabs } from "@mantine/core";
import { IconFiles, IconLock, IconSearch, IconTargetArrow } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearchParams } from "react-router";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";
import { Back } from "../../parts/back";
import { Page } from "../../parts/page";
import { Loaded } from "../../parts/states";
import { ThingMenu } from "../../parts/thing-menu";
import { DocumentsTab } from "./documents-tab";
import type { Space } from "./kinds";
import { SearchTab } from "./search-tab";
import { SpaceForm } from "./space-form";
import { TestsTab } from "./tests-tab";

const texts: Texts<{
  back: string;
  documents: string;
  search: string;
  tests: string;
  more: string;
  edit: string;
  remove: string;
  removeTitle: string;
  removeText: (name: string) => string;
  limited: string;
}> = {
  en: {
    back: "Knowledge",
    documents: "Documents",
    search: "Search",
    tests: "Retrieval tests",
    more: "More",
    edit: "Name and access",
    remove: "Delete the space",
    removeTitle: "Delete this space?",
    removeText: (name) =>
      `“${name}” and all of its documents and tests will be gone for good. Answers will not find them any more.`,
    limited: "Limited",
  },
  ru: {
    back: "База знаний",
    documents: "Документы",
    search: "Поиск",
    tests: "Проверка поиска",
    more: "Ещё",
    edit: "Название и доступ",
    remove: "Удалить раздел",
    removeTitle: "Удалить раздел?",
    removeText: (name) => `«${name}», все его документы и проверки исчезнут навсегда. Ответы больше не найдут их.`,
    limited: "Ограничен",
  },
};

export default function SpacePage() {
  const { id = "" } = useParams();
  const t = useTexts(texts);
  const space = useQuery({
    queryKey: ["space", id],
    queryFn: () => read(api.GET("/public/v1/kb/spaces/{space_id}", { params: { path: { space_id: id } } })),
  });
  if (space.data) return <SpaceView key={id} space={space.data} />;
  return (
    <Page title={t.back} above={<Back to="/knowledge">{t.back}</Back>}>
      <Loaded query={space}>{() => null}</Loaded>
    </Page>
  );
}

function SpaceView({ space }: { space: Space }) {
  const t = useTexts(texts);
  const [search, setSearch] = useSearchParams();
  const tab = search.get("tab") ?? "documents";
  return (
    <Page
      title={space.name}
      lead={space.description || undefined}
      above={<Back to="/knowledge">{t.back}</Back>}
      actions={
        <Group gap="xs">
          {space.access && (
            <Badge variant="default" leftSection={<IconLock size={12} aria-hidden />}>
              {t.limited}
            </Badge>
          )}
          {mayAct("operator") && <Actions space={space} />}
        </Group>
      }
    >
      <Tabs
        value={tab}
        onChange={(next) => setSearch(next && next !== "documents" ? { tab: next } : {}, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          <Tabs.Tab value="documents" leftSection={<IconFiles size={16} aria-hidden />}>
            {t.documents}
          </Tabs.Tab>
          <Tabs.Tab value="search" leftSection={<IconSearch size={16} aria-hidden />}>
            {t.search}
          </Tabs.Tab>
          <Tabs.Tab value="tests" leftSection={<IconTargetArrow size={16} aria-hidden />}>
            {t.tests}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="documents">
          <DocumentsTab space={space} />
        </Tabs.Panel>
        <Tabs.Panel value="search">
          <SearchTab space={space} />
        </Tabs.Panel>
        <Tabs.Panel value="tests">
          <TestsTab space={space} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Actions({ space }: { space: Space }) {
  const t = useTexts(texts);
  return (
    <ThingMenu
      words={t}
      question={t.removeText(space.name)}
      remove={() => read(api.DELETE("/public/v1/kb/spaces/{space_id}", { params: { path: { space_id: space.id } } }))}
      then="/knowledge"
      form={(opened, close) => <SpaceForm opened={opened} onClose={close} space={space} />}
    />
  );
}
