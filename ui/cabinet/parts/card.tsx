import { Group, Paper, type PaperProps, Title } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./parts.module.css";

interface CardProps extends PaperProps {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A raised part of a page, with a heading of the second order. */
export function Card({ title, actions, children, ...rest }: CardProps) {
  return (
    <Paper component="section" className={classes.card ?? ""} p={{ base: "md", md: "lg" }} {...rest}>
      {(title || actions) && (
        <Group justify="space-between" mb="sm" gap="xs" align="baseline">
          {title && <Title order={2}>{title}</Title>}
          {actions}
        </Group>
      )}
      {children}
    </Paper>
  );
}
