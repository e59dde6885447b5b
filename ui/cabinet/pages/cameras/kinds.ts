import type { components } from "../../api/schema/vision";
import type { Texts } from "../../i18n/language";

type Schemas = components["schemas"];
export type Stream = Schemas["StreamRecord"];
export type Zone = Schemas["Zone"];
export type CameraEvent = Schemas["EventRecord"];
export type Scenario = Stream["scenarios"][number];
export type Status = Stream["status"];
export type Kind = Zone["kind"];

export const SCENARIOS: Scenario[] = ["traffic", "safety", "ppe", "lpr", "barcode"];
export const KINDS: Kind[] = ["restricted", "queue", "entrance"];

export const STATUS_COLOURS: Record<Status, string> = {
  connecting: "blue",
  online: "green",
  reconnecting: "yellow",
  offline: "gray",
  error: "red",
};

/** Told apart by those who do not see red and green, too; zones have their names beside. */
export const KIND_COLOURS: Record<Kind, string> = { restricted: "#e03131", queue: "#e0912f", entrance: "#1f6feb" };

export const words: Texts<{
  scenarios: Record<Scenario, string>;
  statuses: Record<Status, string>;
  kinds: Record<Kind, string>;
  types: Record<string, string>;
}> = {
  en: {
    scenarios: {
      traffic: "Visitors and queues",
      safety: "Safety",
      ppe: "Protective equipment",
      lpr: "Number plates",
      barcode: "Barcodes",
    },
    statuses: {
      connecting: "Connecting",
      online: "Online",
      reconnecting: "Reconnecting",
      offline: "Offline",
      error: "Error",
    },
    kinds: { restricted: "Restricted", queue: "Queue", entrance: "Entrance" },
    types: {
      person_entered: "Somebody came in",
      person_left: "Somebody left",
      queue_formed: "A queue formed",
      queue_cleared: "The queue is gone",
      no_helmet: "No helmet",
      no_vest: "No vest",
      no_mask: "No mask",
      no_gloves: "No gloves",
      fire: "Fire",
      smoke: "Smoke",
      fall: "Somebody fell",
      zone_intrusion: "Somebody in a restricted zone",
      plate_read: "Plate",
      container_read: "Container",
      barcode_read: "Code",
    },
  },
  ru: {
    scenarios: {
      traffic: "Посетители и очереди",
      safety: "Безопасность",
      ppe: "Средства защиты",
      lpr: "Номера машин",
      barcode: "Штрихкоды",
    },
    statuses: {
      connecting: "Подключается",
      online: "Работает",
      reconnecting: "Переподключается",
      offline: "Нет связи",
      error: "Ошибка",
    },
    kinds: { restricted: "Запретная", queue: "Очередь", entrance: "Вход" },
    types: {
      person_entered: "Вошёл человек",
      person_left: "Вышел человек",
      queue_formed: "Собралась очередь",
      queue_cleared: "Очередь разошлась",
      no_helmet: "Без каски",
      no_vest: "Без жилета",
      no_mask: "Без маски",
      no_gloves: "Без перчаток",
      fire: "Огонь",
      smoke: "Дым",
      fall: "Человек упал",
      zone_intrusion: "Человек в запретной зоне",
      plate_read: "Номер",
      container_read: "Контейнер",
      barcode_read: "Код",
    },
  },
};
