import { SimpleGrid, Text, Title } from "@mantine/core";
import { IconBooks, IconPlugConnected, IconUpload } from "@tabler/icons-react";
import { Link } from "react-router";
import { type Texts, useTexts } from "../../i18n/language";
import classes from "./overview.module.css";

const texts: Texts<{ title: string; lead: string; steps: { title: string; text: string }[] }> = {
  en: {
    title: "Let Parley hear your first conversation",
    lead: "Within minutes there will be a summary, promises with their deadlines, a quality score, and an agent that can be asked about all of it. Begin with any of these:",
    steps: [
      {
        title: "Upload a call",
        text: "A recording by drag and drop: transcript, summary and quality score appear as they are made.",
      },
      {
        title: "Connect your agents",
        text: "Ready settings for Claude, ChatGPT, Cursor and others: they search calls, people and documents over MCP.",
      },
      {
        title: "Add knowledge",
        text: "Price lists, rules and manuals, from which chats answer with citations.",
      },
    ],
  },
  ru: {
    title: "Дайте Parley услышать первый разговор",
    lead: "Через несколько минут здесь появятся краткое содержание, обещания со сроками, оценка качества и агент, которого можно обо всём спросить. Начните с любого шага:",
    steps: [
      {
        title: "Загрузить звонок",
        text: "Перетащите запись: расшифровка, краткое содержание и оценка появятся по мере готовности.",
      },
      {
        title: "Подключить агентов",
        text: "Готовые настройки для Claude, ChatGPT, Cursor и других: поиск по звонкам, людям и документам через MCP.",
      },
      {
        title: "Добавить знания",
        text: "Прайсы, правила и инструкции, по которым чаты отвечают со ссылками на источник.",
      },
    ],
  },
};

const PLACES = [
  { to: "/upload", Icon: IconUpload },
  { to: "/connect", Icon: IconPlugConnected },
  { to: "/knowledge", Icon: IconBooks },
];

/** What an account sees that has nothing yet: how to begin. */
export function Begin() {
  const t = useTexts(texts);
  return (
    <div>
      <Title order={2}>{t.title}</Title>
      <Text c="var(--soft)" maw="46rem" mt={4} mb="md">
        {t.lead}
      </Text>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="sm">
        {PLACES.map(({ to, Icon }, index) => (
          <Link key={to} to={to} className={classes.step}>
            <Icon size={28} stroke={1.5} aria-hidden />
            <div>
              <Text fw={600}>{t.steps[index]?.title}</Text>
              <Text size="sm" c="var(--soft)">
                {t.steps[index]?.text}
              </Text>
            </div>
          </Link>
        ))}
      </SimpleGrid>
    </div>
  );
}
