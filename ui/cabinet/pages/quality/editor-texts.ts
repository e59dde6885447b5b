import type { Forms } from "../../i18n/format";
import type { Texts } from "../../i18n/language";

export const texts: Texts<{
  title: string;
  lead: string;
  back: string;
  criteria: Forms;
  on: (name: string) => string;
  up: (name: string) => string;
  down: (name: string) => string;
  name: string;
  description: string;
  asks: string;
  criteriaOf: string;
  criteriaText: string;
  editCriterion: (name: string) => string;
  remove: (name: string) => string;
  add: string;
  numeric: string;
  restore: string;
  restoreOne: string;
  restoreAll: string;
  sureRestore: string;
  restoreText: string;
  company: string;
  companyText: string;
  names: string;
  contacts: string;
  contactsText: string;
  notices: string;
  noticesText: string;
  enter: string;
  unsaved: string;
  save: string;
  discard: string;
  saved: string;
  preview: string;
  previewText: string;
  choose: string;
  search: string;
  searching: string;
  nothingFound: string;
  none: string;
  judge: string;
  free: string;
  noScenario: string;
  nothingYet: string;
  score: string;
  savedScore: (score: string) => string;
  states: Record<string, string>;
  met: string;
  notMet: string;
  readOnly: string;
}> = {
  en: {
    title: "Scenarios and criteria",
    lead: "What quality control listens for. Of several scenarios that fit a conversation equally well, the upper one counts.",
    back: "Quality",
    criteria: { one: "criterion", other: "criteria" },
    on: (name) => `Use: ${name}`,
    up: (name) => `Move up: ${name}`,
    down: (name) => `Move down: ${name}`,
    name: "Name",
    description: "When it applies",
    asks: "What is asked",
    criteriaOf: "Criteria",
    criteriaText: "Judged in this order.",
    editCriterion: (name) => `Edit: ${name}`,
    remove: (name) => `Remove: ${name}`,
    add: "Add a criterion",
    numeric: "number",
    restore: "Restore",
    restoreOne: "Restore the defaults",
    restoreAll: "Restore the defaults of all",
    sureRestore: "Restore the defaults of all scenarios?",
    restoreText:
      "Every scenario is on, in the order, the words and with the criteria that Parley comes with. What you say of your company stays. Nothing is saved until you press “Save”.",
    company: "Your company",
    companyText: "What the criteria about the company's name, contacts and notices are compared with.",
    names: "What it calls itself",
    contacts: "Official contacts",
    contactsText: "Phones, mail addresses and sites that colleagues may give out.",
    notices: "Notices that have to be given",
    noticesText: "One a line, for example that the call is recorded.",
    enter: "Type and press Enter",
    unsaved: "There are unsaved changes",
    save: "Save",
    discard: "Discard",
    saved: "Saved: the next conversations are judged by it",
    preview: "Try it on a conversation",
    previewText: "Judges a real conversation by what you see here, saved or not.",
    choose: "Choose a conversation",
    search: "The newest ones, or any that is found by words or meaning.",
    searching: "Searching…",
    nothingFound: "Nothing fits",
    none: "No conversations yet",
    judge: "Judge",
    free: "Free: the built-in engine judges, and nothing is stored.",
    noScenario: "No scenario is on: the conversation would not be judged.",
    nothingYet: "The verdict appears here.",
    score: "Score",
    savedScore: (score) => `stored score: ${score}`,
    states: { not_applicable: "does not apply", undecided: "not decided" },
    met: "Met",
    notMet: "Not met",
    readOnly: "Your role may look, and not change.",
  },
  ru: {
    title: "Сценарии и критерии",
    lead: "К чему прислушивается контроль качества. Если разговору подходят несколько сценариев, действует верхний.",
    back: "Качество",
    criteria: { one: "критерий", few: "критерия", many: "критериев", other: "критерия" },
    on: (name) => `Включён: ${name}`,
    up: (name) => `Выше: ${name}`,
    down: (name) => `Ниже: ${name}`,
    name: "Название",
    description: "Когда применяется",
    asks: "О чём спрашивается",
    criteriaOf: "Критерии",
    criteriaText: "Оцениваются в этом порядке.",
    editCriterion: (name) => `Изменить: ${name}`,
    remove: (name) => `Убрать: ${name}`,
    add: "Добавить критерий",
    numeric: "число",
    restore: "Вернуть",
    restoreOne: "Вернуть исходный вид",
    restoreAll: "Вернуть всем исходный вид",
    sureRestore: "Вернуть всем сценариям исходный вид?",
    restoreText:
      "Все сценарии включатся, а их порядок, слова и критерии станут такими, какими были сначала. То, что сказано о компании, останется. Пока вы не нажали «Сохранить», ничего не сохраняется.",
    company: "Ваша компания",
    companyText: "С этим сверяются критерии о названии, контактах и уведомлениях.",
    names: "Как она себя называет",
    contacts: "Официальные контакты",
    contactsText: "Телефоны, адреса почты и сайты, которые сотрудники могут называть.",
    notices: "Обязательные уведомления",
    noticesText: "По одному в строке, например что разговор записывается.",
    enter: "Введите и нажмите Enter",
    unsaved: "Есть несохранённые изменения",
    save: "Сохранить",
    discard: "Отменить",
    saved: "Сохранено: следующие разговоры оцениваются по-новому",
    preview: "Проверить на разговоре",
    previewText: "Оценивает настоящий разговор по тому, что вы здесь видите, даже если это не сохранено.",
    choose: "Выберите разговор",
    search: "Последние или любой, который находится по словам или смыслу.",
    searching: "Идёт поиск…",
    nothingFound: "Ничего не найдено",
    none: "Разговоров пока нет",
    judge: "Оценить",
    free: "Бесплатно: оценивает встроенный движок, ничего не сохраняется.",
    noScenario: "Все сценарии выключены: разговор не был бы оценён.",
    nothingYet: "Оценка появится здесь.",
    score: "Оценка",
    savedScore: (score) => `сохранённая оценка: ${score}`,
    states: { not_applicable: "не применимо", undecided: "не определено" },
    met: "Выполнено",
    notMet: "Не выполнено",
    readOnly: "Ваша роль позволяет смотреть, но не менять.",
  },
};
