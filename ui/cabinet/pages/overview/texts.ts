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
  day: string;
  communications: Forms;
  answering: string;
  answeringLabel: string;
  allMissed: string;
  replies: string;
  repliesLabel: string;
  noReplies: string;
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
    missed: { one: "unanswered", other: "unanswered" },
    noMissed: "none left unanswered",
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
    day: "Day",
    communications: { one: "communication", other: "communications" },
    answering: "Answered and unanswered",
    answeringLabel: "Answered and unanswered conversations over the period",
    allMissed: "All unanswered",
    replies: "Time to the first reply",
    repliesLabel: "Average time to the first reply in chats and mails over the period",
    noReplies: "No chat or mail was replied to in this period.",
    answered: "Answered",
    unanswered: "Unanswered",
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
    missed: { one: "без ответа", other: "без ответа" },
    noMissed: "без ответа ни одного",
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
    day: "День",
    communications: { one: "коммуникация", few: "коммуникации", many: "коммуникаций", other: "коммуникации" },
    answering: "С ответом и без ответа",
    answeringLabel: "Разговоры с ответом и без ответа за период",
    allMissed: "Все без ответа",
    replies: "Время до первого ответа",
    repliesLabel: "Среднее время до первого ответа в чатах и письмах за период",
    noReplies: "За этот период не ответили ни на один чат и ни на одно письмо.",
    answered: "Отвечено",
    unanswered: "Без ответа",
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
