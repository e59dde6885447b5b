import type { components } from "../../api/schema/public";

export type Scenarios = components["schemas"]["QcScenarios"];
export type Scenario = components["schemas"]["QcScenarioSetting"];
export type Criterion = components["schemas"]["QcCriterionSetting"];
export type ScenariosBody = components["schemas"]["QcScenariosBody"];

/** The list with the item of one place moved by one up or down. */
export function moved<T>(items: readonly T[], at: number, by: -1 | 1): T[] {
  const next = [...items];
  const [item] = next.splice(at, 1);
  if (item !== undefined) next.splice(at + by, 0, item);
  return next;
}

export function replaced<T>(items: readonly T[], at: number, item: T): T[] {
  return items.map((each, index) => (index === at ? item : each));
}

/** Every criterion that any scenario has, as the first one words it: what can be added to another one. */
export function catalogOf(scenarios: readonly Scenario[]): Criterion[] {
  const found = new Map<string, Criterion>();
  for (const scenario of scenarios) {
    for (const criterion of scenario.criteria) {
      if (!found.has(criterion.code)) found.set(criterion.code, { ...criterion, enabled: true });
    }
  }
  return [...found.values()].sort((one, other) => one.name.localeCompare(other.name));
}

/** The scenario in the catalog's own words and with its own criteria; on or off as it is. */
export const restored = (scenario: Scenario, original: Scenario): Scenario => ({
  ...original,
  enabled: scenario.enabled,
});

export function bodyOf(draft: Scenarios): ScenariosBody {
  return {
    items: draft.items.map(({ code, name, description, enabled, criteria }) => ({
      code,
      name,
      description,
      enabled,
      criteria: criteria.map((each) => ({
        code: each.code,
        name: each.name,
        description: each.description,
        enabled: each.enabled,
      })),
    })),
    company: draft.company,
  };
}

export const isSame = <T>(one: T, other: T) => JSON.stringify(one) === JSON.stringify(other);
