import { ActionIcon, TextInput } from "@mantine/core";
import { IconArrowRight, IconMessageQuestion } from "@tabler/icons-react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { type Texts, useTexts } from "../../i18n/language";

const MOST_CHARACTERS = 4000;

const texts: Texts<{ question: string; placeholder: string; ask: string }> = {
  en: {
    question: "Ask about your conversations",
    placeholder: "Ask: what did we promise, what do customers complain about…",
    ask: "Ask",
  },
  ru: {
    question: "Спросите о ваших разговорах",
    placeholder: "Спросите: что обещали клиентам, на что жалуются…",
    ask: "Спросить",
  },
};

/** A question that is answered on its own page. */
export function AskField() {
  const t = useTexts(texts);
  const go = useNavigate();
  const [text, setText] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const question = text.trim();
        void go("/ask", question ? { state: { question } } : {});
      }}
    >
      <TextInput
        size="md"
        radius="xl"
        aria-label={t.question}
        placeholder={t.placeholder}
        maxLength={MOST_CHARACTERS}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        leftSection={<IconMessageQuestion size={20} stroke={1.6} aria-hidden />}
        rightSection={
          <ActionIcon type="submit" radius="xl" size={32} variant="light" aria-label={t.ask}>
            <IconArrowRight size={18} aria-hidden />
          </ActionIcon>
        }
        rightSectionWidth={44}
      />
    </form>
  );
}
