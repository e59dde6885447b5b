import { Box, Button, CopyButton, Group, Text } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { type Texts, useTexts } from "../i18n/language";
import classes from "./code.module.css";

const texts: Texts<{ copy: string; copied: string }> = {
  en: { copy: "Copy", copied: "Copied" },
  ru: { copy: "Копировать", copied: "Скопировано" },
};

/** A button that puts a text onto the clipboard, and says so. `what` names it for who does not see it. */
export function Copy({ text, what }: { text: string; what?: string }) {
  const t = useTexts(texts);
  return (
    <CopyButton value={text} timeout={2500}>
      {({ copied, copy }) => (
        <Button
          size="xs"
          variant="default"
          onClick={copy}
          leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          aria-label={what ? `${copied ? t.copied : t.copy}: ${what}` : undefined}
        >
          <span aria-live="polite">{copied ? t.copied : t.copy}</span>
        </Button>
      )}
    </CopyButton>
  );
}

/** A program's or a file's text, with a button that copies it. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <Box className={classes.code ?? ""}>
      <Group justify="space-between" wrap="nowrap" gap="xs" className={classes.head ?? ""}>
        <Text size="xs" c="dimmed" ff="monospace" truncate>
          {label}
        </Text>
        <Copy text={text} what={label} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by keyboard */}
      <pre className={classes.text} tabIndex={0}>
        {text}
      </pre>
    </Box>
  );
}
