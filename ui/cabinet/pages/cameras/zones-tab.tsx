import { ActionIcon, Alert, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconArrowBackUp, IconPolygon, IconSquarePlus, IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { sayDone } from "../../parts/notify";
import { useRefusalText } from "../../parts/refused-fields";
import { UnsavedGuard } from "../../parts/unsaved";
import classes from "./cameras.module.css";
import { KIND_COLOURS, KINDS, type Kind, type Stream, words, type Zone } from "./kinds";
import { Snapshot } from "./snapshot";
import { useZones } from "./use-zones";
import { ZoneCanvas } from "./zone-canvas";
import { freeName, LEAST_POINTS, type Point, RECTANGLE } from "./zone-geometry";

const MOST_ZONES = 32;

const texts: Texts<{
  title: string;
  lead: string;
  draw: string;
  drawing: string;
  close: string;
  stop: string;
  rectangle: string;
  undo: string;
  none: string;
  name: string;
  kind: string;
  remove: (name: string) => string;
  show: string;
  zone: string;
  save: string;
  discard: string;
  saved: string;
  kinds: Record<Kind, string>;
}> = {
  en: {
    title: "Zones",
    lead: "Without an entrance, the picture's border is the door.",
    draw: "Draw a zone",
    drawing: "Click the corners on the picture; end on the first one.",
    close: "Close the zone",
    stop: "Cancel",
    rectangle: "Add a rectangle",
    undo: "Undo",
    none: "There are no zones. Draw one on the picture, or add a rectangle and move its points.",
    name: "Name",
    kind: "Kind",
    remove: (name) => `Delete the zone ${name}`,
    show: "Edit points",
    zone: "Zone",
    save: "Save zones",
    discard: "Discard",
    saved: "The zones are saved; the camera goes on with them.",
    kinds: {
      restricted: "Restricted: whoever steps in is an event",
      queue: "Queue: people who wait are counted",
      entrance: "Entrance: who comes out of it has come in",
    },
  },
  ru: {
    title: "Зоны",
    lead: "Если входа нет, дверью считается край изображения.",
    draw: "Нарисовать зону",
    drawing: "Отметьте углы на изображении; закончите на первом.",
    close: "Замкнуть зону",
    stop: "Отмена",
    rectangle: "Добавить прямоугольник",
    undo: "Отменить шаг",
    none: "Зон нет. Нарисуйте зону на изображении или добавьте прямоугольник и подвиньте его точки.",
    name: "Название",
    kind: "Вид",
    remove: (name) => `Удалить зону ${name}`,
    show: "Править точки",
    zone: "Зона",
    save: "Сохранить зоны",
    discard: "Сбросить",
    saved: "Зоны сохранены, камера уже работает с ними.",
    kinds: {
      restricted: "Запретная: кто вошёл, тот событие",
      queue: "Очередь: считаются ожидающие",
      entrance: "Вход: кто из него вышел, тот вошёл",
    },
  },
};

/** The picture with its zones, and what they are. */
export function ZonesTab({ stream }: { stream: Stream }) {
  const t = useTexts(texts);
  const said = useRefusalText();
  const queries = useQueryClient();
  const { zones, isChanged, canUndo, change, undo, reset } = useZones(stream.zones);
  const [selected, setSelected] = useState<number | null>(stream.zones.length ? 0 : null);
  const [drawn, setDrawn] = useState<Point[] | null>(null);
  const mayEdit = mayAct("operator");
  const save = useMutation({
    mutationFn: () =>
      read(
        api.PATCH("/vision/v1/streams/{stream_id}", { params: { path: { stream_id: stream.id } }, body: { zones } }),
      ),
    onSuccess: (saved) => {
      queries.setQueryData(["stream", stream.id], saved);
      reset();
      sayDone(t.saved);
    },
  });
  const add = (polygon: Point[]) => {
    change([
      ...zones,
      {
        name: freeName(
          t.zone,
          zones.map((zone) => zone.name),
        ),
        kind: "restricted",
        polygon,
      },
    ]);
    setSelected(zones.length);
    setDrawn(null);
  };
  const set = (index: number, values: Partial<Zone>, isStep = true) =>
    change(
      zones.map((zone, at) => (at === index ? { ...zone, ...values } : zone)),
      isStep,
    );
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") setDrawn(null);
      const isTyping = event.target instanceof HTMLInputElement;
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && !isTyping && canUndo) {
        event.preventDefault();
        undo();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
  const ratio = stream.width && stream.height ? stream.width / stream.height : 16 / 9;
  const wrong = save.isError ? said(save.error) : null;
  return (
    <Stack gap="lg">
      <UnsavedGuard isChanged={isChanged || drawn !== null} />
      <Snapshot stream={stream}>
        <ZoneCanvas
          zones={zones}
          selected={selected}
          drawn={drawn}
          ratio={ratio}
          isLocked={!mayEdit}
          onSelect={setSelected}
          onPolygon={(index, polygon, isStep) => set(index, { polygon }, isStep)}
          onDrawn={setDrawn}
          onClose={() => drawn && add(drawn)}
        />
      </Snapshot>
      <Card title={t.title}>
        <Text size="sm" c="var(--soft)" mb="sm">
          {t.lead}
        </Text>
        {mayEdit && (
          <Group gap="xs" mb="sm">
            {drawn ? (
              <>
                <Button size="xs" disabled={drawn.length < LEAST_POINTS} onClick={() => add(drawn)}>
                  {t.close}
                </Button>
                <Button size="xs" variant="default" onClick={() => setDrawn(null)}>
                  {t.stop}
                </Button>
                <Text size="sm" role="status">
                  {t.drawing}
                </Text>
              </>
            ) : (
              <>
                <Button
                  size="xs"
                  variant="light"
                  leftSection={<IconPolygon size={16} aria-hidden />}
                  disabled={zones.length >= MOST_ZONES}
                  onClick={() => setDrawn([])}
                >
                  {t.draw}
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  leftSection={<IconSquarePlus size={16} aria-hidden />}
                  disabled={zones.length >= MOST_ZONES}
                  onClick={() => add(RECTANGLE)}
                >
                  {t.rectangle}
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  leftSection={<IconArrowBackUp size={16} aria-hidden />}
                  disabled={!canUndo}
                  onClick={undo}
                >
                  {t.undo}
                </Button>
              </>
            )}
          </Group>
        )}
        {zones.length === 0 && <Text c="var(--soft)">{t.none}</Text>}
        <fieldset disabled={!mayEdit} style={{ border: "none", margin: 0, padding: 0, minWidth: 0 }}>
          {zones.map((zone, index) => (
            <ZoneRow
              key={index}
              zone={zone}
              isSelected={index === selected}
              onSelect={() => setSelected(index)}
              onChange={(values) => set(index, values)}
              onRemove={() => {
                change(zones.filter((_, at) => at !== index));
                setSelected(null);
              }}
            />
          ))}
        </fieldset>
        {wrong && (
          <Alert color="red" mt="sm" role="alert">
            {wrong}
          </Alert>
        )}
        {isChanged && (
          <Group mt="md" gap="xs">
            <Button loading={save.isPending} onClick={() => save.mutate()}>
              {t.save}
            </Button>
            <Button
              variant="default"
              onClick={() => {
                reset();
                save.reset();
              }}
            >
              {t.discard}
            </Button>
          </Group>
        )}
      </Card>
    </Stack>
  );
}

interface ZoneRowProps {
  zone: Zone;
  isSelected: boolean;
  onSelect: () => void;
  onChange: (values: Partial<Zone>) => void;
  onRemove: () => void;
}

function ZoneRow({ zone, isSelected, onSelect, onChange, onRemove }: ZoneRowProps) {
  const t = useTexts(texts);
  const w = useTexts(words);
  return (
    <div className={classes.zone}>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <ActionIcon
          variant={isSelected ? "filled" : "default"}
          size={36}
          aria-label={`${t.show}: ${zone.name}`}
          aria-pressed={isSelected}
          onClick={onSelect}
        >
          <IconPolygon size={18} color={isSelected ? "currentColor" : KIND_COLOURS[zone.kind]} />
        </ActionIcon>
        <TextInput
          label={t.name}
          value={zone.name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
          onFocus={onSelect}
          maxLength={100}
          flex={1}
          miw={0}
        />
      </Group>
      <Select
        label={t.kind}
        data={KINDS.map((kind) => ({ value: kind, label: w.kinds[kind] }))}
        renderOption={({ option }) => t.kinds[option.value as Kind]}
        value={zone.kind}
        onChange={(kind) => kind && onChange({ kind: kind as Kind })}
        allowDeselect={false}
        w={{ base: 130, xs: 170 }}
        comboboxProps={{ width: 320, position: "bottom-end" }}
      />
      <ActionIcon variant="subtle" color="red" size={36} aria-label={t.remove(zone.name)} onClick={onRemove}>
        <IconTrash size={18} />
      </ActionIcon>
    </div>
  );
}
