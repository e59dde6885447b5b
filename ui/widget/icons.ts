export const ICONS = {
  send: "M12 19V5M5.5 11.5 12 5l6.5 6.5",
  stop: "M7 7h10v10H7Z",
  close: "m6 6 12 12M18 6 6 18",
  again: "M12 20h8M16.5 4.5a2.1 2.1 0 0 1 3 3L8 19l-4 1 1-4Z",
  person: "M12 11.5a3.75 3.75 0 1 0 0-7.5 3.75 3.75 0 0 0 0 7.5ZM4.5 20c.6-3.6 3.6-5.5 7.5-5.5s6.9 1.9 7.5 5.5",
  copy: "M9 9h11v11H9ZM15 5V4H4v11h1",
  check: "m5 12.5 4.5 4.5L19 7.5",
  good: "M4.5 10.5H7v9H4.5ZM7 10.5 11 4q3 1 2 5.5h7l-2 10H7",
  bad: "M19.5 13.5H17v-9h2.5ZM17 13.5 13 20q-3-1-2-5.5H4l2-10h11",
  down: "M12 5v14M5.5 12.5 12 19l6.5-6.5",
} as const;

export type IconName = keyof typeof ICONS;
