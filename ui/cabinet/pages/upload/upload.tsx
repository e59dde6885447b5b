import {
  Anchor,
  Button,
  Collapse,
  Group,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
} from "@mantine/core";
import { Dropzone } from "@mantine/dropzone";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconUpload } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { mayAct, session } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Page } from "../../parts/page";
import { Empty } from "../../parts/states";
import { UploadRow } from "./row";
import classes from "./upload.module.css";
import { add, clear, useUploads, type Wishes } from "./uploads";

const texts: Texts<{
  title: string;
  lead: string;
  drop: string;
  kinds: string;
  choose: string;
  options: string;
  voices: string;
  voice: Record<Wishes["voices"], [string, string]>;
  language: string;
  languages: Record<"auto" | "ru" | "en", string>;
  summary: string;
  summaryWhy: string;
  more: string;
  direction: string;
  directions: Record<"none" | "in" | "out", string>;
  when: string;
  whens: Record<"now" | "file", string>;
  client: string;
  employee: string;
  own: string;
  ownWhy: string;
  files: string;
  clear: string;
  viewer: string;
  all: string;
}> = {
  en: {
    title: "Upload",
    lead: "Drop recordings or exports of chats and mail boxes: they are recognised, read and summed up.",
    drop: "Drop files here",
    kinds: "Calls: mp3, wav, m4a, ogg, opus, amr, video… Texts: eml, mbox, Telegram, WhatsApp, zip",
    choose: "Choose files",
    options: "How to read them",
    voices: "Who speaks in a recording",
    voice: {
      channels: [
        "A channel is a speaker",
        "Recordings of a telephone exchange: the client on one channel, you on the other.",
      ],
      diarize: ["Tell voices apart", "One channel with several people, as from a dictaphone or a meeting."],
      one: ["Do not tell apart", "Everything goes to one speaker."],
    },
    language: "Language",
    languages: { auto: "Found from the recording", ru: "Russian", en: "English" },
    summary: "Analyse",
    summaryWhy: "Summary, promises, quality and memory",
    more: "More options",
    direction: "Direction",
    directions: { none: "Not known", in: "Incoming", out: "Outgoing" },
    when: "When it took place",
    whens: { now: "Now", file: "By the file's date" },
    client: "Client's name",
    employee: "Employee's name",
    own: "Your own people in exports",
    ownWhy: "Addresses, domains and names, comma-separated: they become employees, the others clients.",
    files: "Files",
    clear: "Clear what is done",
    viewer: "Your role may read, not upload.",
    all: "To the communications",
  },
  ru: {
    title: "Загрузка",
    lead: "Перетащите записи или выгрузки чатов и почты: они будут распознаны, прочитаны и разобраны.",
    drop: "Перетащите файлы сюда",
    kinds: "Звонки: mp3, wav, m4a, ogg, opus, amr, видео… Тексты: eml, mbox, Telegram, WhatsApp, zip",
    choose: "Выбрать файлы",
    options: "Как их читать",
    voices: "Кто говорит в записи",
    voice: {
      channels: ["Канал — это говорящий", "Записи АТС: клиент на одном канале, вы на другом."],
      diarize: ["Различать голоса", "Один канал и несколько людей: диктофон, встреча."],
      one: ["Не различать", "Всё достанется одному говорящему."],
    },
    language: "Язык",
    languages: { auto: "Определить по записи", ru: "Русский", en: "Английский" },
    summary: "Анализировать",
    summaryWhy: "Резюме, обещания, качество и память",
    more: "Ещё настройки",
    direction: "Направление",
    directions: { none: "Не известно", in: "Входящий", out: "Исходящий" },
    when: "Когда состоялся",
    whens: { now: "Сейчас", file: "По дате файла" },
    client: "Имя клиента",
    employee: "Имя сотрудника",
    own: "Ваши люди в выгрузках",
    ownWhy: "Адреса, домены и имена через запятую: они станут сотрудниками, остальные — клиентами.",
    files: "Файлы",
    clear: "Убрать готовые",
    viewer: "Ваша роль позволяет читать, но не загружать.",
    all: "К коммуникациям",
  },
};

const USUAL: Wishes = {
  language: "",
  voices: "channels",
  direction: "",
  when: "now",
  summary: true,
  client: "",
  employee: "",
  own: "",
};

export default function UploadPage() {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const uploads = useUploads();
  const openRef = useRef<() => void>(null);
  const [wishes, setWishes] = useState(USUAL);
  const done = uploads.filter((each) => each.state === "done").length;
  // Lists and figures know of them now.
  useEffect(() => void queries.invalidateQueries({ queryKey: ["communications"] }), [done]);
  if (!mayAct("operator")) {
    return (
      <Page title={t.title}>
        <Empty title={t.viewer} />
      </Page>
    );
  }
  return (
    <Page title={t.title} lead={t.lead}>
      <div className={classes.columns}>
        <Stack gap="lg" miw={0}>
          <Dropzone
            onDrop={(files) => add(files, wishes)}
            disabled={!session.tenant.is_active}
            className={classes.drop ?? ""}
            inputProps={{ "aria-label": t.drop }}
            tabIndex={-1}
            openRef={openRef}
          >
            <Stack align="center" gap={6} py="xl">
              <IconUpload size={40} stroke={1.4} aria-hidden />
              <Text fw={600} size="lg">
                {t.drop}
              </Text>
              <Text size="sm" c="var(--soft)" ta="center">
                {t.kinds}
              </Text>
              <Button
                mt="sm"
                variant="default"
                className={classes.choose ?? ""}
                onClick={(event) => {
                  event.stopPropagation();
                  openRef.current?.();
                }}
              >
                {t.choose}
              </Button>
            </Stack>
          </Dropzone>
          {uploads.length > 0 && (
            <Card
              title={t.files}
              actions={
                done > 0 && (
                  <Button size="compact-sm" variant="subtle" onClick={clear}>
                    {t.clear}
                  </Button>
                )
              }
            >
              <ul className={classes.files} aria-live="polite">
                {uploads.map((each) => (
                  <UploadRow key={each.key} upload={each} />
                ))}
              </ul>
              <Anchor component={Link} to="/communications" size="sm">
                {t.all}
              </Anchor>
            </Card>
          )}
        </Stack>
        <Options wishes={wishes} onChange={(values) => setWishes((before) => ({ ...before, ...values }))} />
      </div>
    </Page>
  );
}

function Options({ wishes, onChange }: { wishes: Wishes; onChange: (values: Partial<Wishes>) => void }) {
  const t = useTexts(texts);
  const [opened, { toggle }] = useDisclosure();
  return (
    <Card title={t.options}>
      <Stack>
        <Radio.Group
          label={t.voices}
          value={wishes.voices}
          onChange={(value) => onChange({ voices: value as Wishes["voices"] })}
        >
          <Stack gap="xs" mt={6}>
            {(["channels", "diarize", "one"] as const).map((each) => (
              <Radio key={each} value={each} label={t.voice[each][0]} description={t.voice[each][1]} />
            ))}
          </Stack>
        </Radio.Group>
        <Select
          label={t.language}
          allowDeselect={false}
          data={[
            { value: "auto", label: t.languages.auto },
            { value: "ru", label: t.languages.ru },
            { value: "en", label: t.languages.en },
          ]}
          value={wishes.language || "auto"}
          onChange={(value) => onChange({ language: value === "ru" || value === "en" ? value : "" })}
        />
        <Switch
          label={t.summary}
          description={t.summaryWhy}
          checked={wishes.summary}
          onChange={(event) => onChange({ summary: event.currentTarget.checked })}
        />
        <Group>
          <Button
            size="compact-sm"
            variant="subtle"
            aria-expanded={opened}
            rightSection={<IconChevronDown size={16} aria-hidden />}
            onClick={toggle}
          >
            {t.more}
          </Button>
        </Group>
        <Collapse expanded={opened}>
          <Stack>
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <Select
                label={t.direction}
                allowDeselect={false}
                data={[
                  { value: "none", label: t.directions.none },
                  { value: "in", label: t.directions.in },
                  { value: "out", label: t.directions.out },
                ]}
                value={wishes.direction || "none"}
                onChange={(value) => onChange({ direction: value === "in" || value === "out" ? value : "" })}
              />
              <Select
                label={t.when}
                allowDeselect={false}
                data={[
                  { value: "now", label: t.whens.now },
                  { value: "file", label: t.whens.file },
                ]}
                value={wishes.when}
                onChange={(value) => onChange({ when: value === "file" ? "file" : "now" })}
              />
              <TextInput
                label={t.client}
                maxLength={200}
                value={wishes.client}
                onChange={(event) => onChange({ client: event.currentTarget.value })}
              />
              <TextInput
                label={t.employee}
                maxLength={200}
                value={wishes.employee}
                onChange={(event) => onChange({ employee: event.currentTarget.value })}
              />
            </SimpleGrid>
            <TextInput
              label={t.own}
              description={t.ownWhy}
              maxLength={20_000}
              value={wishes.own}
              onChange={(event) => onChange({ own: event.currentTarget.value })}
            />
          </Stack>
        </Collapse>
      </Stack>
    </Card>
  );
}
