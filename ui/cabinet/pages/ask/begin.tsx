import { Button, Group, Text, Title } from "@mantine/core";
import { IconMessageQuestion } from "@tabler/icons-react";
import { useTexts } from "../../i18n/language";
import classes from "./ask.module.css";
import { texts } from "./texts";

interface BeginProps {
  isAbout: boolean;
  /** The chat's own; without them there are some of ours. */
  suggestions: string[];
  onAsk: (question: string) => void;
}

/** Before the first question: what can be asked. */
export function Begin({ isAbout, suggestions, onAsk }: BeginProps) {
  const t = useTexts(texts);
  const offered = suggestions.length ? suggestions : isAbout ? t.suggestedAbout : t.suggested;
  return (
    <div className={classes.begin}>
      <span className={classes.mark}>
        <IconMessageQuestion size={28} stroke={1.6} aria-hidden />
      </span>
      <Title order={2} fz="xl" ta="center">
        {isAbout ? t.beginAbout : t.begin}
      </Title>
      <Text c="var(--soft)" ta="center" maw="34rem">
        {isAbout ? t.beginAboutText : t.beginText}
      </Text>
      <Group gap="xs" justify="center" mt="sm">
        {offered.map((question) => (
          <Button
            key={question}
            variant="default"
            radius="xl"
            fw={500}
            className={classes.offer ?? ""}
            onClick={() => onAsk(question)}
          >
            {question}
          </Button>
        ))}
      </Group>
    </div>
  );
}
