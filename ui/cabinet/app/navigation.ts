import {
  IconAddressBook,
  IconBooks,
  IconCamera,
  IconChartBar,
  IconCheckbox,
  IconHeadset,
  IconMessageQuestion,
  IconMessages,
  IconPlugConnected,
  IconRobot,
  IconSettings,
  IconStars,
  IconUpload,
  IconWallet,
} from "@tabler/icons-react";
import type { ComponentType } from "react";
import type { Texts } from "../i18n/language";
import type { Feature, Role } from "./session";

export const names: Texts<Record<Place["name"], string>> = {
  en: {
    overview: "Overview",
    ask: "Ask",
    communications: "Communications",
    people: "People",
    promises: "Promises",
    quality: "Quality",
    knowledge: "Knowledge",
    chats: "Chat agents",
    conversations: "Site conversations",
    cameras: "Cameras",
    upload: "Upload",
    connect: "Connect agents",
    balance: "Balance",
    settings: "Settings",
  },
  ru: {
    overview: "Обзор",
    ask: "Спросить",
    communications: "Коммуникации",
    people: "Люди",
    promises: "Обещания",
    quality: "Качество",
    knowledge: "База знаний",
    chats: "Чат-агенты",
    conversations: "Диалоги с сайта",
    cameras: "Камеры",
    upload: "Загрузка",
    connect: "Подключение агентов",
    balance: "Баланс",
    settings: "Настройки",
  },
};

export interface Place {
  name:
    | "overview"
    | "ask"
    | "communications"
    | "people"
    | "promises"
    | "quality"
    | "knowledge"
    | "chats"
    | "conversations"
    | "cameras"
    | "upload"
    | "connect"
    | "balance"
    | "settings";
  to: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
  feature?: Feature;
  /** Who may do something there at least. */
  role?: Role;
}

/** The places of the cabinet, in groups as the menu shows them. */
export const places: Place[][] = [
  [
    { name: "overview", to: "/", icon: IconChartBar },
    { name: "ask", to: "/ask", icon: IconMessageQuestion, feature: "chat", role: "operator" },
    { name: "communications", to: "/communications", icon: IconHeadset },
    { name: "people", to: "/people", icon: IconAddressBook },
    { name: "promises", to: "/promises", icon: IconCheckbox },
    { name: "quality", to: "/quality", icon: IconStars, feature: "qc" },
    { name: "upload", to: "/upload", icon: IconUpload },
  ],
  [
    { name: "knowledge", to: "/knowledge", icon: IconBooks },
    { name: "chats", to: "/chats", icon: IconRobot, feature: "chat" },
    { name: "conversations", to: "/conversations", icon: IconMessages, feature: "chat" },
    { name: "cameras", to: "/cameras", icon: IconCamera, feature: "vision" },
  ],
  [
    { name: "connect", to: "/connect", icon: IconPlugConnected },
    { name: "balance", to: "/balance", icon: IconWallet },
    { name: "settings", to: "/settings", icon: IconSettings },
  ],
];
