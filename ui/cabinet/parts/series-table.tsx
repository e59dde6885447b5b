import { Anchor, Table } from "@mantine/core";
import { Link } from "react-router";
import { type Texts, useTexts } from "../i18n/language";
import classes from "./series-table.module.css";

const texts: Texts<{ table: string }> = { en: { table: "As a table" }, ru: { table: "Таблицей" } };

interface SeriesTableProps<Row> {
  /** What a row is of: "Day". */
  head: string;
  rows: Row[];
  columns: { name: string; value: (row: Row) => string }[];
  /** Where a row leads. */
  to?: (row: Row) => string;
}

/** The figures of a chart in words. */
export function SeriesTable<Row extends { label: string }>({ head, rows, columns, to }: SeriesTableProps<Row>) {
  const t = useTexts(texts);
  return (
    <details className={classes.details}>
      <summary>{t.table}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section className={classes.scroll} tabIndex={0} aria-label={t.table}>
        <Table fz="sm" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{head}</Table.Th>
              {columns.map((column) => (
                <Table.Th key={column.name}>{column.name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.label}>
                <Table.Td>
                  {to ? (
                    <Anchor component={Link} to={to(row)} size="sm">
                      {row.label}
                    </Anchor>
                  ) : (
                    row.label
                  )}
                </Table.Td>
                {columns.map((column) => (
                  <Table.Td key={column.name}>{column.value(row)}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </details>
  );
}
