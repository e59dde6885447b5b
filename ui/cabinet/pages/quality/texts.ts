import type { Forms } from "../../i18n/format";
import type { Texts } from "../../i18n/language";

export const GROUPS = ["person", "department", "scenario", "category"] as const;
export type GroupBy = (typeof GROUPS)[number];

interface QualityTexts {
  title: string;
  lead: string;
  editor: string;
  overall: string;
  was: (value: string) => string;
  ranks: string;
  groups: Record<GroupBy, string>;
  order: string;
  best: string;
  worst: string;
  name: string;
  score: string;
  evaluations: string;
  evaluated: Forms;
  weakest: string;
  more: string;
  noRanks: string;
  criteria: string;
  criteriaLead: string;
  met: (share: string) => string;
  example: string;
  newestFailed: string;
  noCriteria: string;
  noEvidence: string;
  openCommunication: string;
  empty: string;
  emptyText: string;
  allMet: string;
  rest: string;
}

export const texts: Texts<QualityTexts> = {
  en: {
    title: "Quality",
    lead: "How conversations were led, by scenarios and criteria of your own.",
    editor: "Scenarios and criteria",
    overall: "Average score",
    was: (value) => `${value} in the period before`,
    ranks: "Ranks",
    groups: { person: "People", department: "Departments", scenario: "Scenarios", category: "Categories" },
    order: "Order",
    best: "Best first",
    worst: "Worst first",
    name: "Name",
    score: "Score",
    evaluations: "Judged",
    evaluated: { one: "conversation judged", other: "conversations judged" },
    weakest: "Weakest criterion",
    more: "Show more",
    noRanks: "Nothing to rank in this period.",
    criteria: "Weakest criteria",
    criteriaLead: "How often each was met where it could be decided, with the newest conversation that failed it.",
    met: (share) => `met in ${share}`,
    example: "Example",
    newestFailed: "Newest that failed it",
    noCriteria: "No criterion was decided in this period.",
    noEvidence: "It was not said: there are no words to point at.",
    openCommunication: "Open the conversation",
    empty: "Nothing was judged in this period",
    emptyText: "Each analysed conversation gets a score by itself. Choose a longer period, or upload a call.",
    allMet: "all met",
    rest: "Show all criteria",
  },
  ru: {
    title: "Качество",
    lead: "Как вели разговоры: по вашим сценариям и критериям.",
    editor: "Сценарии и критерии",
    overall: "Средняя оценка",
    was: (value) => `${value} за предыдущий период`,
    ranks: "Рейтинги",
    groups: { person: "Люди", department: "Отделы", scenario: "Сценарии", category: "Категории" },
    order: "Порядок",
    best: "Сначала лучшие",
    worst: "Сначала худшие",
    name: "Название",
    score: "Оценка",
    evaluations: "Оценено",
    evaluated: {
      one: "разговор оценён",
      few: "разговора оценено",
      many: "разговоров оценено",
      other: "разговора оценено",
    },
    weakest: "Слабое место",
    more: "Показать ещё",
    noRanks: "За этот период сравнивать нечего.",
    criteria: "Слабые критерии",
    criteriaLead: "Как часто критерий выполнен там, где это можно решить, и последний разговор, где он не выполнен.",
    met: (share) => `выполнен в ${share}`,
    example: "Пример",
    newestFailed: "Последний, где не выполнен",
    noCriteria: "За этот период решённых критериев нет.",
    noEvidence: "Этого не сказали: указать не на что.",
    openCommunication: "Открыть разговор",
    empty: "За этот период оценок нет",
    emptyText: "Каждый разобранный разговор получает оценку сам. Выберите период подлиннее или загрузите звонок.",
    allMet: "всё выполнено",
    rest: "Показать все критерии",
  },
};
