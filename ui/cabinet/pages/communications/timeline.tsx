import { Anchor, Text } from "@mantine/core";
import { IconPaperclip } from "@tabler/icons-react";
import { memo, useCallback, useEffect, useRef, useState } from "react";
import { mayAct } from "../../app/session";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import { AskToLeave, UnsavedGuard } from "../../parts/unsaved";
import { Edit } from "./edit";
import type { Item } from "./kinds";
import classes from "./timeline.module.css";
import type { Place, Words } from "./use-player";
import type { Voice } from "./voices";

const texts: Texts<{ listen: (time: string) => string; edit: string; file: string; gone: string }> = {
  en: { listen: (time) => `Listen from ${time}`, edit: "Correct", file: "File", gone: "not in the export" },
  ru: { listen: (time) => `Слушать с ${time}`, edit: "Исправить", file: "Файл", gone: "нет в выгрузке" },
};

interface TimelineProps {
  id: string;
  kind: string;
  items: Item[];
  voices: Map<string, Voice>;
  words: Words;
  place: Place;
  /** The turn that a link or a quotation led to. */
  marked: number | null;
  onListen: ((item: Item) => void) | null;
}

/** What was said or written, turn by turn: a call by speaker, everything else as messages. */
export function Timeline({ id, kind, items, voices, words, place, marked, onListen }: TimelineProps) {
  const [editing, setEditing] = useState<number | null>(null);
  const [isChanged, setChanged] = useState(false);
  const [wanted, setWanted] = useState<number | null>(null);
  const latest = useRef(isChanged);
  latest.current = isChanged;
  // Another turn while one is half corrected: only after a question.
  const edit = useCallback((idx: number) => (latest.current ? setWanted(idx) : setEditing(idx)), []);
  const left = useRef<number | null>(null);
  // Who has corrected a turn goes on from there.
  useEffect(() => {
    if (editing !== null || left.current === null) return;
    document.getElementById(`item-${left.current}`)?.querySelector<HTMLElement>(`.${classes.edit}`)?.focus();
    left.current = null;
  }, [editing]);
  const leave = (idx: number) => {
    left.current = idx;
    setEditing(null);
  };
  const all = [...voices.values()];
  return (
    <>
      <UnsavedGuard isChanged={isChanged} />
      <AskToLeave
        opened={wanted !== null}
        onStay={() => setWanted(null)}
        onLeave={() => {
          setEditing(wanted);
          setWanted(null);
        }}
      />
      <ol className={kind === "call" ? classes.call : classes.messages}>
        {items.map((item, number) => {
          const voice = voices.get(item.label ?? "");
          const isLit = place.idx === item.idx;
          return editing === item.idx ? (
            <li key={item.idx} className={classes.editing}>
              <Edit id={id} item={item} voices={all} onChanged={setChanged} onDone={() => leave(item.idx)} />
            </li>
          ) : (
            <Turn
              key={item.idx}
              item={item}
              voice={voice}
              kind={kind}
              isFirst={number === 0 || items[number - 1]?.label !== item.label}
              words={words[item.idx] ?? null}
              lit={isLit ? (place.word ?? -1) : null}
              isMarked={marked === item.idx}
              onListen={onListen}
              onEdit={edit}
            />
          );
        })}
      </ol>
    </>
  );
}

interface TurnProps {
  item: Item;
  voice: Voice | undefined;
  kind: string;
  isFirst: boolean;
  words: { word: string; start_ms: number }[] | null;
  /** The word that is said now, -1 where only the turn is known; null where another turn is. */
  lit: number | null;
  isMarked: boolean;
  onListen: ((item: Item) => void) | null;
  onEdit: (idx: number) => void;
}

const Turn = memo(function Turn(props: TurnProps) {
  const { item, voice, kind, isFirst, words, lit, isMarked, onListen, onEdit } = props;
  const t = useTexts(texts);
  const format = useFormat();
  const isOurs = kind !== "call" && voice?.isOurs;
  const marks = [
    classes.turn,
    isOurs ? classes.ours : "",
    lit !== null ? classes.lit : "",
    isMarked ? classes.marked : "",
  ];
  const time = item.start_ms !== null ? format.clock(item.start_ms / 1000) : item.at ? format.moment(item.at) : "";
  return (
    <li
      id={`item-${item.idx}`}
      className={marks.join(" ")}
      style={{ "--voice": voice?.colour ?? "var(--soft)" } as React.CSSProperties}
      tabIndex={isMarked ? -1 : undefined}
    >
      <div className={classes.head}>
        {(isFirst || kind !== "call") && voice?.name && <span className={classes.name}>{voice.name}</span>}
        {time &&
          (onListen && item.start_ms !== null ? (
            <button type="button" className={classes.time} aria-label={t.listen(time)} onClick={() => onListen(item)}>
              {time}
            </button>
          ) : (
            <time className={classes.when} dateTime={item.at ?? undefined}>
              {time}
            </time>
          ))}
        {mayAct("operator") && (
          <button
            type="button"
            className={classes.edit}
            aria-label={time ? `${t.edit}: ${time}` : undefined}
            onClick={() => onEdit(item.idx)}
          >
            {t.edit}
          </button>
        )}
      </div>
      {item.text && (
        <p className={classes.text}>{words && lit !== null ? <Spoken words={words} lit={lit} /> : item.text}</p>
      )}
      {item.media.map((file) => (
        <Attachment key={file.ref || file.name} file={file} />
      ))}
    </li>
  );
});

function Spoken({ words, lit }: { words: { word: string }[]; lit: number }) {
  const said = words.map((each) => each.word.trim());
  return (
    <>
      {said.slice(0, Math.max(0, lit)).join(" ")}
      {lit > 0 ? " " : ""}
      {lit >= 0 && <mark className={classes.word}>{said[lit]}</mark>}
      {lit >= 0 ? " " : ""}
      {said.slice(lit + 1).join(" ")}
    </>
  );
}

function Attachment({ file }: { file: Item["media"][number] }) {
  const t = useTexts(texts);
  const format = useFormat();
  const name = file.name || t.file;
  if (!file.ref) {
    return (
      <Text size="sm" c="dimmed">
        <IconPaperclip size={14} aria-hidden /> {name} ({t.gone})
      </Text>
    );
  }
  const source = `/public/v1/media/${file.ref}`;
  if (file.type === "image" && /^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(file.mime ?? "")) {
    return (
      <a href={source} target="_blank" rel="noreferrer">
        <img className={classes.image} src={source} alt={name} loading="lazy" />
      </a>
    );
  }
  if (file.type === "audio") {
    // biome-ignore lint/a11y/useMediaCaption: a voice message has no captions
    return <audio className={classes.sound} src={source} controls preload="none" />;
  }
  return (
    <Anchor href={source} download size="sm" className={classes.file ?? ""}>
      <IconPaperclip size={14} aria-hidden /> {name}
      {file.size_bytes ? ` · ${format.bytes(file.size_bytes)}` : ""}
    </Anchor>
  );
}
