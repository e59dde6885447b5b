import { ActionIcon, Textarea } from "@mantine/core";
import { IconArrowUp, IconPlayerStopFilled } from "@tabler/icons-react";
import { useState } from "react";
import { useTexts } from "../../i18n/language";
import classes from "./ask.module.css";
import { texts } from "./texts";
import { MOST_CHARACTERS } from "./thread";

interface ComposerProps {
  isAbout: boolean;
  isAsking: boolean;
  isReady: boolean;
  onAsk: (question: string) => void;
  onStop: () => void;
}

/** Where questions are written; within reach of a thumb. */
export function Composer({ isAbout, isAsking, isReady, onAsk, onStop }: ComposerProps) {
  const t = useTexts(texts);
  const [text, setText] = useState("");
  const submit = () => {
    if (!text.trim() || isAsking || !isReady) return;
    onAsk(text);
    setText("");
  };
  return (
    <form
      className={classes.composer}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Textarea
        variant="unstyled"
        size="md"
        flex={1}
        aria-label={t.question}
        placeholder={isAbout ? t.placeholderAbout : t.placeholder}
        title={t.keys}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          submit();
        }}
        autosize
        minRows={1}
        maxRows={8}
        maxLength={MOST_CHARACTERS}
        autoFocus
      />
      {isAsking ? (
        <ActionIcon key="stop" size={40} radius="xl" variant="default" aria-label={t.stop} onClick={onStop}>
          <IconPlayerStopFilled size={18} aria-hidden />
        </ActionIcon>
      ) : (
        <ActionIcon
          key="send"
          type="submit"
          size={40}
          radius="xl"
          aria-label={t.send}
          disabled={!text.trim() || !isReady}
        >
          <IconArrowUp size={20} aria-hidden />
        </ActionIcon>
      )}
    </form>
  );
}
