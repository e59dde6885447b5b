import { ActionIcon, Button, Group, Select, Text, Tooltip } from "@mantine/core";
import {
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconRewindBackward10,
  IconRewindForward10,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { ApiError, api, read } from "../../api/client";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import type { Details, Item } from "./kinds";
import classes from "./player.module.css";
import { type Player as PlayerState, SPEEDS } from "./use-player";
import type { Voice } from "./voices";
import { Waveform } from "./waveform";

const texts: Texts<{
  play: string;
  pause: string;
  back: string;
  forward: string;
  speed: string;
  position: string;
  of: (now: string, all: string) => string;
  broken: string;
  keys: string;
  noWave: string;
  again: string;
}> = {
  en: {
    play: "Play",
    pause: "Pause",
    back: "Back 10 seconds",
    forward: "Forward 10 seconds",
    speed: "Speed",
    position: "Position in the recording",
    of: (now, all) => `${now} of ${all}`,
    broken: "This browser cannot play the recording. It can be downloaded.",
    noWave: "The waveform could not be loaded; the recording plays without it.",
    again: "Try again",
    keys: "Space: play or pause. Arrows: 5 seconds back and forward.",
  },
  ru: {
    play: "Слушать",
    pause: "Пауза",
    back: "Назад на 10 секунд",
    forward: "Вперёд на 10 секунд",
    speed: "Скорость",
    position: "Место в записи",
    of: (now, all) => `${now} из ${all}`,
    broken: "Этот браузер не может воспроизвести запись. Её можно скачать.",
    noWave: "Не удалось загрузить волну; запись играет и без неё.",
    again: "Повторить",
    keys: "Пробел: слушать или пауза. Стрелки: на 5 секунд назад и вперёд.",
  },
};

interface PlayerProps {
  found: Details;
  items: Item[];
  voices: Map<string, Voice>;
  player: PlayerState;
}

/** Of a recording that cannot be read there is none: the player says that itself. */
const isSilent = (error: unknown) => error instanceof ApiError && error.status === 404;

/** A call's recording: it stays in sight while its text is read. */
export function Player({ found, items, voices, player }: PlayerProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const wave = useQuery({
    queryKey: ["waveform", found.id],
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: () =>
      read(
        api.GET("/public/v1/communications/{communication_id}/waveform", {
          params: { path: { communication_id: found.id } },
        }),
      ),
  });
  const durationMs = wave.data?.duration_ms || found.duration_ms || 0;
  const now = format.clock(player.seconds);
  const all = format.clock(durationMs / 1000);
  const source = `/public/v1/media/${found.id}`;
  return (
    <section className={classes.player} aria-label={t.position}>
      {/* biome-ignore lint/a11y/useMediaCaption: what is said stands below, with its times */}
      <audio ref={player.audio} src={source} preload="metadata" />
      <Waveform
        peaks={wave.data?.peaks ?? null}
        durationMs={durationMs}
        seconds={player.seconds}
        items={items}
        voices={voices}
        label={t.position}
        shown={t.of(now, all)}
        onSeek={(to) => player.seek(to)}
      />
      <Group gap="xs" mt="xs" justify="space-between">
        <Group gap={6} wrap="nowrap">
          <Tooltip label={t.keys} openDelay={600} multiline maw={260}>
            <ActionIcon
              size="lg"
              radius="xl"
              variant="filled"
              aria-label={player.isPlaying ? t.pause : t.play}
              onClick={player.toggle}
            >
              {player.isPlaying ? (
                <IconPlayerPauseFilled size={18} aria-hidden />
              ) : (
                <IconPlayerPlayFilled size={18} aria-hidden />
              )}
            </ActionIcon>
          </Tooltip>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.back} onClick={() => player.step(-10)}>
            <IconRewindBackward10 size={20} aria-hidden />
          </ActionIcon>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.forward} onClick={() => player.step(10)}>
            <IconRewindForward10 size={20} aria-hidden />
          </ActionIcon>
          <Text size="sm" className={classes.clock}>
            {now} <span className={classes.soft}>/ {all}</span>
          </Text>
        </Group>
        <Select
          size="xs"
          w={84}
          ms="auto"
          aria-label={t.speed}
          allowDeselect={false}
          data={SPEEDS.map((speed) => ({ value: String(speed), label: `${format.number(speed, 2)}×` }))}
          value={String(player.speed)}
          onChange={(value) => player.setSpeed(Number(value ?? 1))}
        />
      </Group>
      {wave.isError && !isSilent(wave.error) && (
        <Group gap="xs" mt="xs" role="status">
          <Text size="sm">{t.noWave}</Text>
          <Button size="compact-xs" variant="default" loading={wave.isFetching} onClick={() => void wave.refetch()}>
            {t.again}
          </Button>
        </Group>
      )}
      {player.isBroken && (
        <Text size="sm" mt="xs" role="status">
          {t.broken}{" "}
          <a href={source} download>
            {found.recording?.name ?? source}
          </a>
        </Text>
      )}
    </section>
  );
}
