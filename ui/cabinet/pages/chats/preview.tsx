import { Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useMemo, useRef } from "react";
import { accountHeaders, watchSession } from "../../api/client";
import { session } from "../../app/session";
import { type Texts, useLanguage, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import classes from "./chats.module.css";
import type { Chat, Draft } from "./kinds";

const texts: Texts<{ title: string; hint: string }> = {
  en: {
    title: "Preview",
    hint: "Looks as you have set it, saved or not. Ask it something: it answers with the saved settings, as it answers your own people.",
  },
  ru: {
    title: "Просмотр",
    hint: "Выглядит так, как вы настроили, даже до сохранения. Спросите его: он ответит по сохранённым настройкам, как вашим сотрудникам.",
  },
};

const REBUILD_MS = 500;

interface Frame extends Window {
  fetch: typeof fetch;
  HTMLElement: typeof HTMLElement;
  Parley?: ((...call: unknown[]) => void) & { q?: unknown[] };
}

/** The widget in a page of its own, with the settings as they are in the form. */
export function Preview({ chat, draft }: { chat: Chat; draft: Draft }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const shown = useMemo(
    () => ({
      header_title: draft.header_title,
      greeting: draft.greeting,
      suggestions: draft.suggestions.filter((line) => line.trim()),
      language: session.tenant.language,
      languages: draft.languages,
      theme: draft.theme,
      captcha: null,
    }),
    [draft.header_title, draft.greeting, draft.suggestions, draft.languages, draft.theme],
  );
  // A frame for each state: nothing of the one before is left in it.
  const [look] = useDebouncedValue(JSON.stringify(shown), REBUILD_MS);
  return (
    <div className={classes.preview}>
      <Card title={t.title}>
        <Text size="sm" c="var(--soft)" mb="sm">
          {t.hint}
        </Text>
        <PreviewFrame key={`${look} ${language}`} chatId={chat.id} config={look} language={language} title={t.title} />
      </Card>
    </div>
  );
}

interface PreviewFrameProps {
  chatId: string;
  config: string;
  language: string;
  title: string;
}

function PreviewFrame({ chatId, config, language, title }: PreviewFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const begin = () => {
    const node = frame.current;
    const inside = node?.contentWindow as Frame | null | undefined;
    if (!node || !inside || inside.Parley) return;
    inside.fetch = bridge(chatId, config);
    const waiting: unknown[] = [];
    inside.Parley = Object.assign((...call: unknown[]) => void waiting.push(call), { q: waiting });
    inside.Parley("open");
    // A widget that opens takes the focus, which belongs to the form until somebody goes into the preview.
    const focus = inside.HTMLElement.prototype.focus;
    inside.HTMLElement.prototype.focus = function (options) {
      if (inside.document.hasFocus()) focus.call(this, options);
    };
    const script = inside.document.createElement("script");
    script.src = "/widget.js";
    script.dataset.widgetKey = `preview ${chatId}`;
    script.dataset.language = language;
    inside.document.body.append(script);
  };
  return <iframe ref={frame} src="/cabinet/preview" title={title} className={classes.frame} onLoad={begin} />;
}

/** Answers the widget's calls in the server's place: its settings are those of the form, and questions go to the chat
 * as its own people ask it, so that no visitor's conversation is made. */
function bridge(chatId: string, config: string): typeof fetch {
  const history: { role: "user" | "assistant"; content: string }[] = [];
  const json = (body: unknown, status = 200) => Response.json(body, { status });
  return async (input, init) => {
    const path = new URL(String(input), window.location.origin).pathname.replace(/^.*\/widget\/v1\//, "");
    if (path === "config") return json(JSON.parse(config));
    if (path === "visitors") {
      return json({ token: "preview", expires_in: 3600, renewal: null, conversation_id: chatId }, 201);
    }
    if (path === "messages" && init?.method === "POST") {
      const { text } = JSON.parse(String(init.body)) as { text: string };
      const answer = await fetch(`/public/v1/chats/${chatId}/messages`, {
        method: "POST",
        headers: { ...accountHeaders, Accept: "text/event-stream", "Content-Type": "application/json" },
        body: JSON.stringify({ text, history: history.slice(-20) }),
        signal: init.signal ?? null,
      });
      watchSession(answer.status, true);
      if (answer.ok) void remember(answer.clone(), text);
      return answer;
    }
    if (path === "messages") return json({ items: [], state: {} });
    return new Response(null, { status: 204 });
  };

  async function remember(answer: Response, question: string) {
    const stream = await answer.text().catch(() => "");
    const done = stream.split(/\r?\n\r?\n/).find((event) => /^event: done/m.test(event));
    const data = done?.match(/^data: (.*)$/m)?.[1];
    if (!data) return;
    const { markdown } = JSON.parse(data) as { markdown: string };
    if (!markdown) return;
    history.push({ role: "user", content: question }, { role: "assistant", content: markdown.slice(0, 4000) });
  }
}
