import { Blockquote, Code, List, Text } from "@mantine/core";
import { Fragment, type ReactNode } from "react";

/** Makes what stands for `[n]`. */
type Cite = (citation: number) => ReactNode;

/** The Markdown that chats answer in, as elements: paragraphs, quotations, lists, bold, code, citations. Links and
 * pictures of it stay text, since nobody here vouches for them; HTML is text, too. */
export function Markdown({ children, cite }: { children: string; cite?: Cite }) {
  return <>{blocksOf(children).map((block, index) => drawn(block, index, cite))}</>;
}

/** The words alone, for a line in a list: without marks, and without the numbers of sources. */
export const plainText = (markdown: string) =>
  blocksOf(markdown)
    .flatMap(({ lines }) => lines.map(wordsOf))
    .join(" ");

const wordsOf = (text: string): string =>
  text
    .replace(
      INLINE,
      (_, escaped?: string, bold?: string, code?: string) => escaped ?? (bold && wordsOf(bold)) ?? code ?? "",
    )
    .replace(/\s+(?=[.,;:!?]|$)/g, "");

type Kind = "quote" | "bullets" | "numbers" | "text";
interface Block {
  kind: Kind;
  lines: string[];
}

const MARKS: [Kind, RegExp][] = [
  ["quote", /^\s{0,3}>\s?/],
  ["bullets", /^\s*[-*+]\s+/],
  ["numbers", /^\s*\d{1,3}[.)]\s+/],
];

function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let isOpen = false;
  for (const line of markdown.split(/\r?\n/)) {
    if (!line.trim()) {
      isOpen = false;
      continue;
    }
    const [kind, mark] = MARKS.find(([, each]) => each.test(line)) ?? (["text", /^#{1,6}\s+/] as const);
    const last = blocks.at(-1);
    const text = line.replace(mark, "");
    if (isOpen && last?.kind === kind) last.lines.push(text);
    else blocks.push({ kind, lines: [text] });
    isOpen = true;
  }
  return blocks;
}

function drawn({ kind, lines }: Block, key: number, cite: Cite | undefined): ReactNode {
  if (kind === "bullets" || kind === "numbers") {
    return (
      <List key={key} type={kind === "numbers" ? "ordered" : "unordered"} size="sm" my={4} withPadding>
        {lines.map((line, index) => (
          <List.Item key={index}>{inline(line, cite)}</List.Item>
        ))}
      </List>
    );
  }
  const text = lines.map((line, index) => (
    <Fragment key={index}>
      {index > 0 && <br />}
      {inline(line, cite)}
    </Fragment>
  ));
  if (kind === "quote") {
    return (
      <Blockquote key={key} p="xs" my={6} fz="sm" color="gray" radius="sm">
        {text}
      </Blockquote>
    );
  }
  return (
    <Text key={key} size="sm" my={4}>
      {text}
    </Text>
  );
}

const INLINE = /\\([!-/:-@[-`{-~])|\*\*([^*\n]+)\*\*|`([^`\n]+)`|\[(\d{1,3})\]/g;

function inline(text: string, cite: Cite | undefined): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, escaped, bold, code, number] = found;
    parts.push(text.slice(end, found.index));
    if (escaped !== undefined) parts.push(escaped);
    else if (bold !== undefined) parts.push(<b key={found.index}>{inline(bold, cite)}</b>);
    else if (number !== undefined) {
      parts.push(cite ? <Fragment key={found.index}>{cite(Number(number))}</Fragment> : whole);
    } else parts.push(<Code key={found.index}>{code}</Code>);
    end = found.index + whole.length;
  }
  parts.push(text.slice(end));
  return parts;
}
