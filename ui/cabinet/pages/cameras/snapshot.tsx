import { IconVideoOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError, accountHeaders, failureOf } from "../../api/client";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import classes from "./cameras.module.css";
import type { Stream } from "./kinds";

const FRESH_MS = 5000;
const LATE_S = 30;

const texts: Texts<{ none: string; now: string; at: (when: string) => string; of: (name: string) => string }> = {
  en: {
    none: "No picture yet",
    now: "Now",
    at: (when) => `Picture of ${when}`,
    of: (name) => `Newest picture of ${name}`,
  },
  ru: {
    none: "Пока нет изображения",
    now: "Сейчас",
    at: (when) => `Снимок: ${when}`,
    of: (name) => `Последний снимок: ${name}`,
  },
};

interface Picture {
  blob: Blob;
  takenAt: Date | null;
}

/** The newest picture, asked for every few seconds while the page is looked at; null where there is none. */
function usePicture(id: string) {
  return useQuery<Picture | null>({
    queryKey: ["snapshot", id],
    queryFn: async () => {
      const answer = await fetch(`/vision/v1/streams/${encodeURIComponent(id)}/snapshot`, { headers: accountHeaders });
      if (answer.status === 404) return null;
      if (!answer.ok) throw failureOf(answer.status, await answer.json().catch(() => undefined));
      const taken = answer.headers.get("Last-Modified");
      return { blob: await answer.blob(), takenAt: taken ? new Date(taken) : null };
    },
    refetchInterval: FRESH_MS,
    retry: (tries, error) => tries < 2 && !(error instanceof ApiError && error.status < 500),
  });
}

interface SnapshotProps {
  stream: Stream;
  /** What lies over the picture. */
  children?: ReactNode;
}

/** What the camera shows, with how old that is; an empty frame where nothing is known. */
export function Snapshot({ stream, children }: SnapshotProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const picture = usePicture(stream.id);
  const url = useUrl(picture.data?.blob ?? null);
  const takenAt = picture.data?.takenAt ?? null;
  const isNow = takenAt !== null && Date.now() - takenAt.getTime() < LATE_S * 1000 && stream.status === "online";
  const ratio = stream.width && stream.height ? stream.width / stream.height : 16 / 9;
  return (
    <div className={classes.picture} style={{ aspectRatio: ratio }}>
      {url ? (
        <img src={url} alt={t.of(stream.name)} draggable={false} />
      ) : (
        <span className={classes.nothing}>
          <IconVideoOff size={32} stroke={1.4} aria-hidden />
          {t.none}
        </span>
      )}
      {children}
      {url && takenAt && (
        <span className={classes.when} data-now={isNow}>
          {isNow ? t.now : t.at(format.moment(takenAt))}
        </span>
      )}
    </div>
  );
}

function useUrl(blob: Blob | null): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!blob) {
      setUrl(null);
      return;
    }
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url;
}
