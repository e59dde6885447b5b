import { useFormat } from "../../i18n/language";
import classes from "./quality.module.css";

const LOW = 60;
const MIDDLE = 80;

/** A share of a hundred as a number and a bar. */
export function Score({ value }: { value: number }) {
  const format = useFormat();
  const level = value < LOW ? "low" : value < MIDDLE ? "middle" : "high";
  return (
    <div className={classes.score}>
      <span style={{ minInlineSize: "3.25rem" }}>{format.percent(value)}</span>
      <div className={classes.bar} aria-hidden>
        <span data-level={level} style={{ inlineSize: `${value}%` }} />
      </div>
    </div>
  );
}
