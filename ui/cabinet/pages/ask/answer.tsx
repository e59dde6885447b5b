import { Anchor, Button, Group, Loader, Text } from "@mantine/core";
import { IconBook2, IconBrain, IconHeadset } from "@tabler/icons-react";
import { Link } from "react-router";
import { ApiError } from "../../api/client";
import { useFormat, useTexts } from "../../i18n/language";
import { Markdown } from "../../parts/markdown";
import { useFailureText } from "../../parts/states";
import classes from "./ask.module.css";
import type { Source } from "./sources";
import { texts } from "./texts";
import type { Exchange } from "./thread";

const ICONS = { communication: IconHeadset, document: IconBook2, memory: IconBrain };

/** A question, its answer as far as it has come, and where that comes from. */
export function AnswerView({ exchange, onAgain }: { exchange: Exchange; onAgain: () => void }) {
  const t = useTexts(texts);
  const format = useFormat();
  const { question, markdown, sources, state, step, isFound } = exchange;
  const cite = (number: number) => <Citation number={number} source={sources.find((each) => each.number === number)} />;
  return (
    <div className={classes.exchange}>
      <div className={classes.question}>
        <span className="visually-hidden">{t.you}: </span>
        {question}
      </div>
      <article className={classes.answer} aria-label={t.answer} aria-busy={state === "asking"}>
        {markdown && (
          <div className={classes.words}>
            <Markdown cite={cite}>{markdown}</Markdown>
          </div>
        )}
        {state === "asking" && (
          <Group gap="sm" role="status" className={classes.status ?? ""}>
            <Loader size="xs" type="dots" aria-hidden />
            <Text size="sm">
              {markdown ? "" : step === "search" ? t.searching : step === "tool" ? t.reading : t.thinking}
            </Text>
          </Group>
        )}
        {state === "stopped" && (
          <Text size="sm" c="var(--soft)">
            {t.stopped}
          </Text>
        )}
        {state === "failed" && <Failed error={exchange.error} onAgain={onAgain} />}
        {isFound === false && (
          <Text size="sm" c="var(--soft)" mt={4}>
            {t.tryOthers}
          </Text>
        )}
        {sources.length > 0 && (
          <div className={classes.foot}>
            <Text size="xs" c="var(--soft)" mb={8}>
              {format.count(sources.length, t.sources)}
            </Text>
            <ol className={classes.sources}>
              {sources.map((source) => (
                <SourceView key={source.number} source={source} />
              ))}
            </ol>
          </div>
        )}
      </article>
    </div>
  );
}

/** `[n]` in the text: it leads to its source as soon as that is known. */
function Citation({ number, source }: { number: number; source: Source | undefined }) {
  const t = useTexts(texts);
  if (!source) return <sup className={classes.number}>{number}</sup>;
  return (
    <Link to={source.to} className={classes.number} aria-label={t.source(number, source.title)} title={source.title}>
      {number}
    </Link>
  );
}

function SourceView({ source }: { source: Source }) {
  const t = useTexts(texts);
  const format = useFormat();
  const Icon = ICONS[source.kind];
  const place = [
    t.kinds[source.kind],
    source.at && format.day(source.at),
    source.startMs !== null && format.clock(source.startMs / 1000),
    source.page !== null && t.page(source.page),
  ].filter(Boolean);
  return (
    <li className={classes.source}>
      <span className={classes.number} aria-hidden>
        {source.number}
      </span>
      <div className={classes.about}>
        <Anchor component={Link} to={source.to} size="sm" fw={600} c="inherit" className={classes.lead ?? ""}>
          {source.title || t.kinds[source.kind]}
        </Anchor>
        <Group gap={4} wrap="nowrap" c="var(--soft)">
          <Icon size={14} stroke={1.7} aria-hidden style={{ flex: "none" }} />
          <Text size="xs">{place.join(" · ")}</Text>
        </Group>
        <Text size="xs" c="var(--soft)" lineClamp={2} mt={4}>
          {source.snippet}
        </Text>
      </div>
    </li>
  );
}

function Failed({ error, onAgain }: { error: unknown; onAgain: () => void }) {
  const t = useTexts(texts);
  const said = useFailureText();
  const hasNoMoney = error instanceof ApiError && error.code === "client_inactive";
  return (
    <div role="alert">
      <Text size="sm" fw={600}>
        {t.failed}
      </Text>
      <Text size="sm" mb="xs">
        {hasNoMoney ? t.noMoney : said(error)}
      </Text>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onAgain}>
          {t.again}
        </Button>
        {hasNoMoney && (
          <Button size="xs" variant="light" component={Link} to="/balance">
            {t.topUp}
          </Button>
        )}
      </Group>
    </div>
  );
}
