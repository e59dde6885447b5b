import type { Forms } from "../../i18n/format";
import type { Texts } from "../../i18n/language";

interface OverviewTexts {
  title: string;
  tiles: Record<"count" | "answered" | "reply" | "duration" | "score" | "promises", string>;
  was: (value: string) => string;
  same: string;
  missed: Forms;
  noMissed: string;
  total: (length: string) => string;
  overdue: Forms;
  noOverdue: string;
  staffTalk: (share: string) => string;
  noFigure: string;
  notJudged: string;
  volume: string;
  volumeLabel: string;
  now: string;
  before: string;
  table: string;
  day: string;
  communications: Forms;
  answering: string;
  answeringLabel: string;
  answered: string;
  unanswered: string;
  categories: string;
  notAnalysed: string;
  noCategories: string;
  quality: string;
  qualityLabel: string;
  score: string;
  noQuality: string;
  allQuality: string;
  kinds: Record<string, string>;
}

export const texts: Texts<OverviewTexts> = {
  en: {
    title: "Overview",
    tiles: {
      count: "Communications",
      answered: "Answered",
      reply: "First reply",
      duration: "Average call",
      score: "Quality",
      promises: "Promises made",
    },
    was: (value) => `${value} before`,
    same: "as before",
    missed: { one: "missed call", other: "missed calls" },
    noMissed: "nothing missed",
    total: (length) => `${length} in all`,
    overdue: { one: "overdue", other: "overdue" },
    noOverdue: "none overdue",
    staffTalk: (share) => `staff talk ${share}`,
    noFigure: "No figures in this period",
    notJudged: "nothing judged yet",
    volume: "Volume",
    volumeLabel: "Communications over the period, beside the period before",
    now: "This period",
    before: "Period before",
    table: "As a table",
    day: "Day",
    communications: { one: "communication", other: "communications" },
    answering: "Answered and missed",
    answeringLabel: "Answered and missed calls over the period",
    answered: "Answered",
    unanswered: "Missed",
    categories: "What it was about",
    notAnalysed: "Not analysed",
    noCategories: "Nothing in this period.",
    quality: "Quality score",
    qualityLabel: "Average quality score over the period",
    score: "Score",
    noQuality: "Nothing was judged in this period.",
    allQuality: "Ranks and criteria",
    kinds: { call: "Calls", chat: "Chats", email: "Mails" },
  },
  ru: {
    title: "Обзор",
    tiles: {
      count: "Коммуникации",
      answered: "Отвечено",
      reply: "Первый ответ",
      duration: "Средний звонок",
      score: "Качество",
      promises: "Обещания",
    },
    was: (value) => `${value} ранее`,
    same: "как и раньше",
    missed: { one: "пропущенный", few: "пропущенных", many: "пропущенных", other: "пропущенных" },
    noMissed: "пропущенных нет",
    total: (length) => `всего ${length}`,
    overdue: { one: "просрочено", few: "просрочено", many: "просрочено", other: "просрочено" },
    noOverdue: "просроченных нет",
    staffTalk: (share) => `говорит сотрудник ${share}`,
    noFigure: "За этот период данных нет",
    notJudged: "оценок пока нет",
    volume: "Поток обращений",
    volumeLabel: "Коммуникации за период рядом с предыдущим периодом",
    now: "Этот период",
    before: "Предыдущий период",
    table: "Таблицей",
    day: "День",
    communications: { one: "коммуникация", few: "коммуникации", many: "коммуникаций", other: "коммуникации" },
    answering: "Отвеченные и пропущенные",
    answeringLabel: "Отвеченные и пропущенные звонки за период",
    answered: "Отвечено",
    unanswered: "Пропущено",
    categories: "О чём говорили",
    notAnalysed: "Без анализа",
    noCategories: "За этот период ничего нет.",
    quality: "Оценка качества",
    qualityLabel: "Средняя оценка качества за период",
    score: "Оценка",
    noQuality: "За этот период оценок нет.",
    allQuality: "Рейтинги и критерии",
    kinds: { call: "Звонки", chat: "Чаты", email: "Письма" },
  },
};
