import { Button, Group } from "@mantine/core";
import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failure } from "./states";

type List = Pick<
  UseInfiniteQueryResult,
  "hasNextPage" | "isFetchingNextPage" | "isFetchNextPageError" | "error" | "fetchNextPage"
>;

interface MoreProps {
  list: List;
  /** The button's words. */
  children: ReactNode;
  size?: "xs" | "sm";
}

/** Under the rows of a list: the way to the next ones. */
export function More({ list, children, size = "sm" }: MoreProps) {
  if (!list.hasNextPage) return null;
  if (isMoreRefused(list)) return <MoreRefused list={list} />;
  return (
    <Group justify="center" mt="md">
      <Button size={size} variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {children}
      </Button>
    </Group>
  );
}

/** Whether the next page failed: a list that asks for it by itself then waits until somebody wants it. */
export const isMoreRefused = (list: List) => list.isFetchNextPageError && !list.isFetchingNextPage;

/** Why the next rows did not come, and a way to ask once more. */
export function MoreRefused({ list }: { list: List }) {
  return (
    <Group justify="center" mt="md">
      <Failure error={list.error} again={() => void list.fetchNextPage()} />
    </Group>
  );
}
