import {
  ActionIcon,
  Badge,
  Button,
  Collapse,
  Group,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  UnstyledButton,
} from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconChevronDown, IconPencil, IconRestore, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useFormat, useTexts } from "../../i18n/language";
import { type Criterion, isSame, moved, replaced, restored, type Scenario } from "./draft";
import { texts } from "./editor-texts";
import classes from "./quality.module.css";

const MOST_NAME = 200;
const MOST_DESCRIPTION = 2000;

interface MoveProps {
  name: string;
  isFirst: boolean;
  isLast: boolean;
  onMove: (by: -1 | 1) => void;
}

function Move({ name, isFirst, isLast, onMove }: MoveProps) {
  const t = useTexts(texts);
  return (
    <Group gap={0} wrap="nowrap">
      <ActionIcon variant="subtle" color="gray" aria-label={t.up(name)} disabled={isFirst} onClick={() => onMove(-1)}>
        <IconArrowUp size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" aria-label={t.down(name)} disabled={isLast} onClick={() => onMove(1)}>
        <IconArrowDown size={16} aria-hidden />
      </ActionIcon>
    </Group>
  );
}

interface ScenarioProps extends Omit<MoveProps, "name"> {
  scenario: Scenario;
  /** As the catalog has it, where that is known. */
  original: Scenario | null;
  catalog: Criterion[];
  /** Who may not still reads all of it. */
  mayEdit: boolean;
  onChange: (scenario: Scenario) => void;
}

/** One scenario: its place, whether it is on, and under its name all that can be changed of it. */
export function ScenarioCard(props: ScenarioProps) {
  const { scenario, original, catalog, isFirst, isLast, mayEdit, onMove, onChange } = props;
  const t = useTexts(texts);
  const format = useFormat();
  const [opened, setOpened] = useState(false);
  const asked = scenario.criteria.filter((each) => each.enabled).length;
  const missing = catalog.filter((each) => !scenario.criteria.some((own) => own.code === each.code));
  return (
    <li className={classes.scenario} data-off={scenario.enabled ? undefined : true}>
      <div className={classes.head}>
        <Switch
          size="sm"
          aria-label={t.on(scenario.name)}
          checked={scenario.enabled}
          disabled={!mayEdit}
          onChange={(event) => onChange({ ...scenario, enabled: event.target.checked })}
        />
        <UnstyledButton className={classes.name ?? ""} aria-expanded={opened} onClick={() => setOpened(!opened)}>
          <Text fw={600} size="sm">
            {scenario.name}
          </Text>
          <Text size="xs" c="var(--soft)">
            {format.count(asked, t.criteria)}
          </Text>
        </UnstyledButton>
        <Move name={scenario.name} isFirst={isFirst || !mayEdit} isLast={isLast || !mayEdit} onMove={onMove} />
        <IconChevronDown size={18} aria-hidden style={{ transform: opened ? "rotate(180deg)" : "none" }} />
      </div>
      <Collapse expanded={opened}>
        {opened && (
          <fieldset disabled={!mayEdit} className={classes.bare}>
            <Stack gap="sm" className={classes.inside ?? ""}>
              <TextInput
                label={t.name}
                value={scenario.name}
                maxLength={MOST_NAME}
                onChange={(event) => onChange({ ...scenario, name: event.target.value })}
              />
              <Textarea
                label={t.description}
                autosize
                minRows={2}
                value={scenario.description}
                maxLength={MOST_DESCRIPTION}
                onChange={(event) => onChange({ ...scenario, description: event.target.value })}
              />
              <div>
                <Text size="sm" fw={600}>
                  {t.criteriaOf}
                </Text>
                <Text size="xs" c="var(--soft)" mb={4}>
                  {t.criteriaText}
                </Text>
                {scenario.criteria.map((criterion, at) => (
                  <CriterionLine
                    key={criterion.code}
                    criterion={criterion}
                    isFirst={at === 0}
                    isLast={at === scenario.criteria.length - 1}
                    onMove={(by) => onChange({ ...scenario, criteria: moved(scenario.criteria, at, by) })}
                    onChange={(next) => onChange({ ...scenario, criteria: replaced(scenario.criteria, at, next) })}
                    onRemove={() =>
                      onChange({ ...scenario, criteria: scenario.criteria.filter((_, index) => index !== at) })
                    }
                  />
                ))}
                {missing.length > 0 && (
                  <Select
                    mt="xs"
                    size="sm"
                    aria-label={t.add}
                    placeholder={t.add}
                    searchable
                    value={null}
                    data={missing.map((each) => ({ value: each.code, label: each.name }))}
                    onChange={(code) => {
                      const added = missing.find((each) => each.code === code);
                      if (added) onChange({ ...scenario, criteria: [...scenario.criteria, added] });
                    }}
                  />
                )}
              </div>
              {original && !isSame(scenario, restored(scenario, original)) && (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  style={{ alignSelf: "flex-start" }}
                  aria-label={`${t.restoreOne}: ${scenario.name}`}
                  leftSection={<IconRestore size={16} aria-hidden />}
                  onClick={() => onChange(restored(scenario, original))}
                >
                  {t.restoreOne}
                </Button>
              )}
            </Stack>
          </fieldset>
        )}
      </Collapse>
    </li>
  );
}

interface CriterionProps extends Omit<MoveProps, "name"> {
  criterion: Criterion;
  onChange: (criterion: Criterion) => void;
  onRemove: () => void;
}

function CriterionLine({ criterion, isFirst, isLast, onMove, onChange, onRemove }: CriterionProps) {
  const t = useTexts(texts);
  const [edited, setEdited] = useState(false);
  return (
    <div className={classes.line}>
      <Switch
        size="xs"
        mt={5}
        aria-label={t.on(criterion.name)}
        checked={criterion.enabled}
        onChange={(event) => onChange({ ...criterion, enabled: event.target.checked })}
      />
      <div className={classes.asked}>
        <Group gap={6}>
          <Text size="sm">{criterion.name}</Text>
          {criterion.value_type === "numeric" && (
            <Badge size="xs" variant="default" tt="none">
              {t.numeric}
            </Badge>
          )}
        </Group>
        {edited ? (
          <Stack gap="xs" mt={4}>
            <TextInput
              size="xs"
              label={t.name}
              value={criterion.name}
              maxLength={MOST_NAME}
              onChange={(event) => onChange({ ...criterion, name: event.target.value })}
            />
            <Textarea
              size="xs"
              label={t.asks}
              autosize
              value={criterion.description}
              maxLength={MOST_DESCRIPTION}
              onChange={(event) => onChange({ ...criterion, description: event.target.value })}
            />
          </Stack>
        ) : (
          <Text size="xs" c="var(--soft)">
            {criterion.description}
          </Text>
        )}
      </div>
      <Group gap={0} wrap="nowrap">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t.editCriterion(criterion.name)}
          aria-expanded={edited}
          onClick={() => setEdited(!edited)}
        >
          <IconPencil size={15} aria-hidden />
        </ActionIcon>
        <Move name={criterion.name} isFirst={isFirst} isLast={isLast} onMove={onMove} />
        <ActionIcon variant="subtle" color="gray" aria-label={t.remove(criterion.name)} onClick={onRemove}>
          <IconX size={15} aria-hidden />
        </ActionIcon>
      </Group>
    </div>
  );
}
